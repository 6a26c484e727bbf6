// The browser's WebGPU as the library calls it: the functions of src/backends/webgpu/symbols.def, imports of hologram.wasm. Objects are
// numbers of a table, structures are read where they lie in the library's memory, and what a promise gives waits until the library asks
// (InstanceProcessEvents). Must not know: programs, buffers of the library, what is done with an error.

// Places of fields; their compiler checks them (generate.py places), so that webgpu_types.h and this table cannot differ.
const PLACES = {
  WGPUStringView: 'data@0 length@4',
  WGPUChainedStruct: 'next@0 sType@4',
  WGPUAdapterInfo: 'vendor@4 architecture@12 device@20 description@28 backend@36 adapter_type@40',
  WGPULimits: 'storage_buffers@48 uniform_bytes@64 storage_bytes@72 buffer_bytes@96 shared_bytes@124 group_lanes@128 group_x@132 group_y@136 group_z@140 groups@144',
  WGPUBufferDescriptor: 'usage@16 size@24',
  WGPUShaderSourceWGSL: 'code@8',
  WGPUShaderModuleDescriptor: 'next@0',
  WGPUBindGroupLayoutEntry: 'binding@4 buffer.type@28 buffer.dynamic_offset@32 sizeof@88',
  WGPUBindGroupLayoutDescriptor: 'count@12 entries@16',
  WGPUPipelineLayoutDescriptor: 'count@12 layouts@16',
  WGPUComputePipelineDescriptor: 'layout@12 compute.module@20 compute.entry@24',
  WGPUBindGroupEntry: 'binding@4 buffer@8 offset@16 size@24 sizeof@40',
  WGPUBindGroupDescriptor: 'layout@12 count@16 entries@20',
  WGPUDeviceDescriptor: 'feature_count@12 features@16 limits@20 lost@36 error@56',
  WGPUBufferMapCallbackInfo: 'callback@8 one@12 two@16', // of all kinds of callbacks
};

const at = Object.fromEntries(Object.entries(PLACES).map(([name, fields]) =>
  [name, Object.fromEntries(fields.split(' ').map((field) => { const [key, place] = field.split('@'); return [key, Number(place)]; }))]));
const INFO = at.WGPUBufferMapCallbackInfo;

// Values of webgpu_types.h.
const SUCCESS = 1;
const FAILED = 3;
const NO_ERROR = 1;
const ERRORS = { GPUValidationError: 2, GPUOutOfMemoryError: 3, GPUInternalError: 4 };
const FILTERS = [null, 'validation', 'out-of-memory', 'internal'];
const ADAPTER_CPU = 3;
const ADAPTER_UNKNOWN = 4;
const BACKEND_WEBGPU = 2;
const LOST_UNKNOWN = 1;
const STYPE_WGSL = 2;
const STORAGE = 3;

// Limits that the library looks at, as the browser calls them; those that are false have 64 bits.
const LIMITS = [['storage_buffers', 'maxStorageBuffersPerShaderStage', true], ['uniform_bytes', 'maxUniformBufferBindingSize', false],
  ['storage_bytes', 'maxStorageBufferBindingSize', false], ['buffer_bytes', 'maxBufferSize', false],
  ['shared_bytes', 'maxComputeWorkgroupStorageSize', true], ['group_lanes', 'maxComputeInvocationsPerWorkgroup', true],
  ['group_x', 'maxComputeWorkgroupSizeX', true], ['group_y', 'maxComputeWorkgroupSizeY', true], ['group_z', 'maxComputeWorkgroupSizeZ', true],
  ['groups', 'maxComputeWorkgroupsPerDimension', true]];

// Features that the library asks for, by their numbers, and those of the language.
const FEATURES = { 0x0b: 'shader-f16' };
const LANGUAGE = { 2: 'packed_4x8_integer_dot_product' };

const NO_WEBGPU = 'WebGPU not supported in this browser';
const ADAPTER = { powerPreference: 'high-performance' };
const ANSWER_MS = 3000; // a browser that says nothing about its adapter has none

const TEXT = Symbol('what was said'); // in the arguments of a callback

const decoder = new TextDecoder();
const encoder = new TextEncoder();

export class WebGPU {
  #core = null;
  #table = [null]; // objects by their numbers
  #unused = [];
  #due = []; // callbacks that the library has not asked for
  #underway = 0; // promises of which one will come
  #wakes = new Set(); // of those who wait for one
  #adapter = null; // what ask() found
  #spent = false; // an adapter gives one device
  #ended = false;

  /** gpu: navigator.gpu, or the same object of another provider; null: there is none. */
  constructor(gpu) {
    this.gpu = gpu ?? null;
    this.reason = NO_WEBGPU;
  }

  /** Asks for the adapter, which the library lists without waiting. */
  async ask() {
    if (!this.gpu) return;
    let late;
    try {
      const time = new Promise((go) => { late = setTimeout(go, ANSWER_MS, null); });
      this.#adapter = await Promise.race([this.gpu.requestAdapter(ADAPTER), time]);
    } catch (error) {
      this.reason = `${NO_WEBGPU}: ${error.message}`;
    } finally {
      clearTimeout(late);
    }
  }

  /** Whether there is an adapter. */
  get there() {
    return this.#adapter !== null;
  }

  attach(core) {
    this.#core = core;
  }

  /** The next callback is due, or some milliseconds are over: what else a launch waits for is looked at then. */
  async next(ms) {
    if (this.#due.length) return;
    await new Promise((go) => {
      const late = setTimeout(() => wake(), ms);
      const wake = () => {
        clearTimeout(late);
        this.#wakes.delete(wake);
        go();
      };
      this.#wakes.add(wake);
    });
  }

  /** How many objects of the browser the library has. */
  get objects() {
    return this.#table.length - 1 - this.#unused.length;
  }

  /** Whether the library waits for the browser. */
  get busy() {
    return this.#underway > 0 || this.#due.length > 0;
  }

  /** { instance, device }: numbers for a device that the page has made. */
  adopt(device) {
    return { instance: this.#add(this), device: this.#add({ device, released: false }) };
  }

  /** The library does not use an adopted device any more. */
  forget({ instance, device }) {
    if (this.#ended) return;
    this.#object(device).released = true;
    this.#remove(device);
    this.#remove(instance);
  }

  /** The library is gone: its devices are destroyed, a page's are left open. */
  end() {
    for (const one of this.#table) if (one?.own && !one.released) one.device.destroy();
    this.#ended = true;
    this.#table = [null];
    this.#due = [];
  }

  // ---- objects ----

  #add(object) {
    const number = this.#unused.pop() ?? this.#table.length;
    this.#table[number] = object;
    return number;
  }

  #object(number) {
    return this.#table[number];
  }

  #remove(number) {
    this.#table[number] = undefined;
    this.#unused.push(number);
  }

  // ---- memory ----

  #u32(place) {
    return this.#core.view.getUint32(place >>> 0, true); // addresses may have come as negative numbers
  }

  #u64(place) {
    return Number(this.#core.view.getBigUint64(place >>> 0, true));
  }

  #setU32(place, value) {
    this.#core.view.setUint32(place >>> 0, value, true);
  }

  /** The text of a WGPUStringView. */
  #text(place) {
    const data = this.#u32(place + at.WGPUStringView.data);
    return decoder.decode(this.#core.bytes.slice(data, data + this.#u32(place + at.WGPUStringView.length)));
  }

  /** Writes a WGPUStringView of a text that is freed by the library. */
  #setText(place, text) {
    const bytes = encoder.encode(text ?? '');
    const data = this.#core.allocate(bytes.length);
    this.#core.bytes.set(bytes, data);
    this.#setU32(place + at.WGPUStringView.data, data);
    this.#setU32(place + at.WGPUStringView.length, bytes.length);
  }

  #array(place, count, size, one) {
    return Array.from({ length: count }, (_, i) => one(place + i * size));
  }

  // ---- callbacks ----

  /** What a callback's structure says of it. */
  #callback(info) {
    return { call: this.#u32(info + INFO.callback), one: this.#u32(info + INFO.one), two: this.#u32(info + INFO.two) };
  }

  #tell(deliver) {
    this.#due.push(deliver);
    for (const wake of this.#wakes) wake();
  }

  /** When the promise is kept or broken, the library gets what deliver(value, error) says: the arguments in front of its two words. */
  #later(promise, info, deliver) {
    const callback = this.#callback(info);
    this.#underway++;
    const over = (value, error) => {
      this.#underway--;
      this.#tell(() => this.#call(callback, deliver(value, error), error?.message ?? ''));
    };
    promise.then((value) => over(value, null), (error) => over(null, error));
    return 0n;
  }

  /** arguments_: numbers; TEXT stands for the address of what was said. */
  #call({ call, one, two }, arguments_, said) {
    const view = this.#core.allocate(8);
    this.#setText(view, said);
    const data = this.#u32(view);
    try {
      this.#core.exports.__indirect_function_table.get(call)(...arguments_.map((value) => (value === TEXT ? view : value)), one, two);
    } finally {
      this.#core.free(data);
      this.#core.free(view);
    }
  }

  /** Tells of a device's loss, unless it is the library that let go of it. */
  #tellLost(wrapper, callback) {
    wrapper.device.lost.then(({ message }) => this.#tell(() => {
      if (!wrapper.released) this.#call(callback, [0, LOST_UNKNOWN, TEXT], message || 'the browser gives no reason');
    }));
  }

  // ---- what is asked of adapters and devices ----

  #writeLimits(place, limits) {
    for (const [field, name, word] of LIMITS) {
      if (word) this.#setU32(place + at.WGPULimits[field], limits[name]);
      else this.#core.view.setBigUint64((place + at.WGPULimits[field]) >>> 0, BigInt(limits[name]), true);
    }
    return SUCCESS;
  }

  #readLimits(place) {
    return Object.fromEntries(LIMITS.map(([field, name, word]) =>
      [name, word ? this.#u32(place + at.WGPULimits[field]) : this.#u64(place + at.WGPULimits[field])]));
  }

  #writeInfo(place, info = {}) {
    const { vendor, architecture } = info;
    const known = [vendor, architecture].filter(Boolean).join(' '); // most browsers say no more
    const said = { vendor, architecture, device: info.device || known, description: info.description || known };
    for (const [field, text] of Object.entries(said)) this.#setText(place + at.WGPUAdapterInfo[field], text);
    const cpu = info.isFallbackAdapter || info.architecture === 'swiftshader';
    this.#setU32(place + at.WGPUAdapterInfo.adapter_type, cpu ? ADAPTER_CPU : ADAPTER_UNKNOWN);
    this.#setU32(place + at.WGPUAdapterInfo.backend, BACKEND_WEBGPU);
    return SUCCESS;
  }

  async #requestDevice(requiredLimits, requiredFeatures) {
    const adapter = this.#spent ? await this.gpu.requestAdapter(ADAPTER) : this.#adapter;
    if (!adapter) throw new Error(this.reason);
    this.#spent = true;
    const device = await adapter.requestDevice({ requiredLimits, requiredFeatures });
    if (this.#ended) device.destroy(); // nobody will ask for it
    return device;
  }

  #pipeline(descriptor) {
    const { WGPUComputePipelineDescriptor: place } = at;
    return {
      layout: this.#object(this.#u32(descriptor + place.layout)),
      compute: { module: this.#object(this.#u32(descriptor + place['compute.module'])), entryPoint: this.#text(descriptor + place['compute.entry']) },
    };
  }

  /** The functions, as imports of the module. */
  imports() {
    const object = (number) => this.#object(number);
    const device = (number) => this.#object(number).device;
    const has = (one, feature) => Number(one.features?.has(FEATURES[feature]) ?? false);
    const release = (number) => this.#remove(number);
    return {
      CreateInstance: () => (this.there ? this.#add(this) : 0),
      InstanceHasWGSLLanguageFeature: (_instance, feature) => Number(this.gpu?.wgslLanguageFeatures?.has(LANGUAGE[feature]) ?? false),
      InstanceProcessEvents: () => {
        for (const deliver of this.#due.splice(0)) if (!this.#core.dead) deliver();
      },
      InstanceRequestAdapter: (_instance, _options, info) => {
        const callback = this.#callback(info);
        this.#tell(() => this.#call(callback, [SUCCESS, this.#add(this.#adapter), TEXT], ''));
        return 0n;
      },
      AdapterGetInfo: (adapter, info) => this.#writeInfo(info, object(adapter).info),
      AdapterInfoFreeMembers: (info) => {
        for (const field of ['vendor', 'architecture', 'device', 'description'])
          this.#core.free(this.#u32(info + at.WGPUAdapterInfo[field]));
      },
      AdapterGetLimits: (adapter, limits) => this.#writeLimits(limits, object(adapter).limits),
      AdapterHasFeature: (adapter, feature) => has(object(adapter), feature),
      AdapterRequestDevice: (_adapter, descriptor, info) => {
        const { feature_count: count, features, limits, lost, error } = at.WGPUDeviceDescriptor;
        const told = this.#callback(descriptor + error - 4); // it has no mode
        const loss = this.#callback(descriptor + lost);
        const wanted = Array.from({ length: this.#u32(descriptor + count) }, (_, i) => FEATURES[this.#u32(this.#u32(descriptor + features) + 4 * i)]);
        const made = this.#requestDevice(this.#readLimits(this.#u32(descriptor + limits)), wanted);
        const wrapper = { device: null, released: false, own: true };
        return this.#later(made, info, (found, refused) => {
          if (refused) return [FAILED, 0, TEXT];
          wrapper.device = found;
          found.addEventListener('uncapturederror', (event) => this.#tell(() => {
            if (!wrapper.released) this.#call(told, [0, ERRORS[event.error.constructor.name] ?? ERRORS.GPUInternalError, TEXT], event.error.message);
          }));
          this.#tellLost(wrapper, loss);
          return [SUCCESS, this.#add(wrapper), TEXT];
        });
      },
      AdapterRelease: release,
      DeviceTellLost: (number, info) => this.#tellLost(object(number), this.#callback(info)),
      DeviceGetLimits: (number, limits) => this.#writeLimits(limits, device(number).limits),
      DeviceHasFeature: (number, feature) => has(device(number), feature),
      DeviceGetAdapterInfo: (number, info) => this.#writeInfo(info, device(number).adapterInfo),
      DeviceGetQueue: (number) => this.#add(device(number).queue),
      DevicePushErrorScope: (number, filter) => device(number).pushErrorScope(FILTERS[filter]),
      DevicePopErrorScope: (number, info) => this.#later(device(number).popErrorScope().then((error) => {
        if (error) throw error;
      }), info, (_, error) =>
        error && !ERRORS[error.constructor.name] ? [FAILED, NO_ERROR, TEXT] : [SUCCESS, error ? ERRORS[error.constructor.name] : NO_ERROR, TEXT]),
      DeviceCreateBuffer: (number, descriptor) => this.#add(device(number).createBuffer({
        usage: this.#u64(descriptor + at.WGPUBufferDescriptor.usage), size: this.#u64(descriptor + at.WGPUBufferDescriptor.size) })),
      DeviceCreateShaderModule: (number, descriptor) => {
        const chain = this.#u32(descriptor + at.WGPUShaderModuleDescriptor.next);
        if (this.#u32(chain + at.WGPUChainedStruct.sType) !== STYPE_WGSL) throw new Error('a shader module that is no WGSL');
        return this.#add(device(number).createShaderModule({ code: this.#text(chain + at.WGPUShaderSourceWGSL.code) }));
      },
      DeviceCreateBindGroupLayout: (number, descriptor) => {
        const { WGPUBindGroupLayoutDescriptor: list, WGPUBindGroupLayoutEntry: entry } = at;
        const entries = this.#array(this.#u32(descriptor + list.entries), this.#u32(descriptor + list.count), entry.sizeof, (place) => ({
          binding: this.#u32(place + entry.binding),
          visibility: 4, // compute
          buffer: { type: this.#u32(place + entry['buffer.type']) === STORAGE ? 'storage' : 'uniform',
            hasDynamicOffset: this.#u32(place + entry['buffer.dynamic_offset']) !== 0 } }));
        return this.#add(device(number).createBindGroupLayout({ entries }));
      },
      DeviceCreatePipelineLayout: (number, descriptor) => {
        const { layouts, count } = at.WGPUPipelineLayoutDescriptor;
        const bindGroupLayouts = this.#array(this.#u32(descriptor + layouts), this.#u32(descriptor + count), 4, (place) => object(this.#u32(place)));
        return this.#add(device(number).createPipelineLayout({ bindGroupLayouts }));
      },
      DeviceCreateComputePipeline: (number, descriptor) => this.#add(device(number).createComputePipeline(this.#pipeline(descriptor))),
      DeviceCreateComputePipelineAsync: (number, descriptor, info) =>
        this.#later(device(number).createComputePipelineAsync(this.#pipeline(descriptor)), info,
          (pipeline, error) => (error ? [FAILED, 0, TEXT] : [SUCCESS, this.#add(pipeline), TEXT])),
      DeviceCreateBindGroup: (number, descriptor) => {
        const { WGPUBindGroupDescriptor: list, WGPUBindGroupEntry: entry } = at;
        const entries = this.#array(this.#u32(descriptor + list.entries), this.#u32(descriptor + list.count), entry.sizeof, (place) => ({
          binding: this.#u32(place + entry.binding),
          resource: { buffer: object(this.#u32(place + entry.buffer)), offset: this.#u64(place + entry.offset), size: this.#u64(place + entry.size) } }));
        return this.#add(device(number).createBindGroup({ layout: object(this.#u32(descriptor + list.layout)), entries }));
      },
      DeviceCreateCommandEncoder: (number) => this.#add(device(number).createCommandEncoder()),
      DeviceDestroy: (number) => device(number).destroy(),
      DeviceRelease: (number) => {
        object(number).released = true;
        release(number);
      },
      BufferMapAsync: (buffer, mode, offset, size, info) =>
        this.#later(object(buffer).mapAsync(Number(mode), offset, size), info, (_, error) => [error ? FAILED : SUCCESS, TEXT]),
      BufferReadMappedRange: (buffer, offset, to, size) => {
        this.#core.bytes.set(new Uint8Array(object(buffer).getMappedRange(), offset >>> 0, size >>> 0), to >>> 0);
      },
      BufferUnmap: (buffer) => object(buffer).unmap(),
      BufferDestroy: (buffer) => object(buffer).destroy(),
      BufferRelease: release,
      ShaderModuleRelease: release,
      BindGroupLayoutRelease: release,
      PipelineLayoutRelease: release,
      ComputePipelineRelease: release,
      BindGroupRelease: release,
      CommandEncoderBeginComputePass: (encoder) => this.#add(object(encoder).beginComputePass()),
      CommandEncoderCopyBufferToBuffer: (encoder, from, fromOffset, to, toOffset, size) =>
        object(encoder).copyBufferToBuffer(object(from), Number(fromOffset), object(to), Number(toOffset), Number(size)),
      CommandEncoderClearBuffer: (encoder, buffer, offset, size) => object(encoder).clearBuffer(object(buffer), Number(offset), Number(size)),
      CommandEncoderFinish: (encoder) => this.#add(object(encoder).finish()),
      CommandEncoderRelease: release,
      CommandBufferRelease: release,
      ComputePassEncoderSetPipeline: (pass, pipeline) => object(pass).setPipeline(object(pipeline)),
      ComputePassEncoderSetBindGroup: (pass, index, group, count, offsets) =>
        object(pass).setBindGroup(index, object(group), this.#array(offsets, count, 4, (place) => this.#u32(place))),
      ComputePassEncoderDispatchWorkgroups: (pass, x, y, z) => object(pass).dispatchWorkgroups(x >>> 0, y >>> 0, z >>> 0),
      ComputePassEncoderEnd: (pass) => object(pass).end(),
      ComputePassEncoderRelease: release,
      QueueSubmit: (queue, count, commands) => object(queue).submit(this.#array(commands, count, 4, (place) => object(this.#u32(place)))),
      QueueWriteBuffer: (queue, buffer, offset, data, size) => object(queue).writeBuffer(object(buffer), Number(offset), this.#core.bytes, data >>> 0, size >>> 0),
      QueueOnSubmittedWorkDone: (queue, info) => this.#later(object(queue).onSubmittedWorkDone(), info, (_, error) => [error ? FAILED : SUCCESS, TEXT]),
      QueueRelease: release,
    };
  }
}
