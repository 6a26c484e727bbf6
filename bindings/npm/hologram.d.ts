// Hologram: a portable compute runtime. The guide is docs/guide/web.md.

/** An element type of programs; wide integers come as arrays of BigInt. */
export type Type =
  | 'f16' | 'bf16' | 'f32' | 'f64'
  | 'i8' | 'i16' | 'i32' | 'i64' | 'i128' | 'i256' | 'i512' | 'i1024' | 'i2048' | 'i4096'
  | 'u8' | 'u16' | 'u32' | 'u64' | 'u128' | 'u256' | 'u512' | 'u1024' | 'u2048' | 'u4096';
/** Of tensors: bool is a byte, complex numbers are pairs of f32 or f64. */
export type TensorType = Type | 'bool' | 'complex64' | 'complex128';

export type TypedArray =
  | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array
  | Float32Array | Float64Array | BigInt64Array | BigUint64Array;
/** What comes back: f16 as Float16Array where the engine has it, else the bits of halves as Uint16Array. */
export type Elements = TypedArray | bigint[];
/** What may be given for an array: elements of its type, or numbers that are converted. */
export type Data = TypedArray | ArrayBuffer | Iterable<number | bigint | boolean>;
/** An array, also with the shape that symbols of its extents follow from; memory of the library; a number for a scalar. */
export type Value = Data | Buffer | Tensor | number | bigint | boolean | { data: Data; shape: readonly number[] };

export interface Diagnostic {
  severity: 'error' | 'warning' | 'note' | 'fault';
  /** "V03" */
  code: string;
  message: string;
  hint: string | null;
  /** From 1, in bytes; 0 when unknown. */
  line: number;
  column: number;
  length: number;
}

/** What the library reports. Fields that do not apply are undefined. */
export class HologramError extends Error {
  /** "HG_ERROR_ISA", "HG_ERROR_EXECUTION_FAILED", … */
  status: string;
  code?: string;
  diagnostics: Diagnostic[];
  line?: number;
  column?: number;
  length?: number;
  step?: number;
  phase?: number;
  instruction?: number;
  lane?: number;
  operand?: number;
  offset?: number;
  limit?: number;
}

export interface LoadOptions {
  /** Where hologram.wasm is, unless beside the module; of hologram/wasm, hologram-core.wasm. */
  wasmUrl?: string | URL;
  /** Its bytes instead. */
  bytes?: ArrayBuffer | Uint8Array;
  /** Or the compiled module, as `hg.module` of another thread. */
  module?: WebAssembly.Module;
  /** How many threads launches use: workers over shared memory, where the page is cross-origin isolated. 1 unless said. */
  threads?: number;
  /** Told while the file comes. */
  progress?(loaded: number, total: number): void;
  /** Ends this wait, and the loading itself when nobody else waits for it. */
  signal?: AbortSignal;
  /** Where WebGPU comes from, unless navigator.gpu: the same object of a package for Node. null: there is none. Not of hologram/wasm. */
  gpu?: object | null;
}

/** Loads the library; a second call gives the first's. */
export function load(options?: LoadOptions): Promise<Hologram>;
/** Computes something; gives "Computation complete". */
export function run_in_browser(options?: LoadOptions): Promise<'Computation complete'>;
/** The version of the package. */
export const version: string;
declare const hologram: { load: typeof load };
export default hologram;

export interface LaunchOptions {
  /** "auto", "wasm", "webgpu", or an open one. A call that gives no promise cannot open webgpu, and its auto is wasm. */
  backend?: string | Backend;
  /** How many lanes run, unless the program says. */
  lanes?: number | bigint;
  grid?: number | readonly number[];
  block?: number | readonly number[];
  /** Milliseconds after which lanes stop; 30 s unless said. */
  timeoutMs?: number;
  /** Most steps of loops of a lane. */
  maxSteps?: number;
}
export interface RunOptions extends LaunchOptions {
  signal?: AbortSignal;
}

export interface AssembleOptions {
  /** Values of `.const` names. */
  defines?: Record<string, string | number | bigint>;
  /** Which `.program` of several. */
  program?: string;
  /** What messages call the text. */
  name?: string;
  /** Files that `.include` and `.data` name. What it throws, the call throws; a Promise is no answer. */
  resolve?(name: string, from: string | null): string | ArrayBuffer | Uint8Array;
}

export interface DeviceInfo {
  backend: string;
  name: string;
  device: number;
  available: boolean;
  reason: string;
  exact: boolean;
  software: boolean;
  memory_bytes: number;
  compute_units: number;
  max_block_lanes: number;
  max_shared_bytes: number;
  max_buffer_bytes: number;
  capabilities: string;
  driver: string;
  platform: number;
}

interface Disposable_ {
  /** Frees it; so does `using`, and being collected. */
  dispose(): void;
  readonly disposed: boolean;
}

export class Hologram {
  /** close() was called. */
  readonly disposed: boolean;
  readonly version: string;
  /** For load({ module }) in a worker. */
  readonly module: WebAssembly.Module;
  /** Kernels that are compiled behind the scenes: how many have come, and a wait for those that were begun. */
  readonly native: { readonly arrived: number; settled(): Promise<void> };
  readonly types: Type[];
  /** Threads that launches use, and why they are fewer than load() was asked for, or ''. */
  readonly threads: { readonly count: number; readonly reason: string };
  backends(): string[];
  devices(): DeviceInfo[];
  /** Opens a backend of its own. settings: fields of hg_config; device: a GPUDevice of the page for webgpu, which stays open. */
  open(name?: string, settings?: Record<string, string | number | bigint | boolean | object>): Promise<Backend>;
  /** The one that run() uses; it must be open already, or one that opens at once (wasm). */
  backend(name?: string | Backend): Backend;
  /** A promise of it: webgpu is opened. */
  opened(name?: string | Backend): Promise<Backend>;
  assemble(text: string, options?: AssembleOptions): Program;
  decode(bytes: Uint8Array | ArrayBuffer): Program;
  jsonKernel(kernel: string | object, name?: string): Program;
  kernel(name: string): Program;
  kernels(): { name: string; about: string }[];
  circuit(text: string, options?: { name?: string; type?: Type }): Circuit;
  graph(text: string, options?: { name?: string; programs?(file: string): Program }): Graph;
  tensor(data: Data | readonly unknown[] | number | bigint, options?: { type?: TensorType; shape?: readonly number[]; backend?: string | Backend }): Tensor;
  /** Every operation on tensors by its name. */
  readonly ops: Readonly<Record<string, (...args: (Tensor | OperationOptions)[]) => any>>;
  /** Runs a program, JSON kernel or graph; gives what it wrote. */
  run(source: string | object, values?: Record<string, Value>, options?: RunOptions): Promise<Record<string, Elements>>;
  toNumbers(type: Type, elements: Elements): (number | bigint)[];
  /** Every function of the C interface by its name. */
  call(name: string, ...args: unknown[]): any;
  readonly values: Readonly<Record<string, number>>;
  /** Frees everything; the next load() begins anew. */
  close(): void;
}

export interface OperationOptions {
  axes?: readonly number[];
  keepdims?: boolean;
  flag?: boolean;
  type?: TensorType;
  sizes?: readonly (number | bigint)[];
  numbers?: readonly number[];
  backend?: string | Backend;
}

export class Backend implements Disposable_ {
  readonly name: string;
  describe(): DeviceInfo;
  buffer(type: Type, data: Data | number): Buffer;
  buffer(data: TypedArray): Buffer;
  /** Whether calls may wait for it: not for webgpu, of which only what gives a promise is there. */
  readonly waits: boolean;
  /** Goes on with what was started; true: something is left. */
  progress(): boolean;
  dispose(): void;
  readonly disposed: boolean;
}

export class Buffer {
  readonly type: Type;
  readonly length: number;
  readonly byteLength: number;
  readonly backend: Backend;
  write(data: Data): void;
  read(): Elements;
  /** The same on every backend. */
  readAsync(): Promise<Elements>;
  /** The elements in place: use it at once, it is empty when memory grows. */
  view(): TypedArray;
  dispose(): void;
}

export interface Param {
  name: string;
  kind: 'scalar' | 'buffer' | 'pool';
  type: Type | null;
  direction: 'in' | 'out' | 'inout' | null;
  dims: string[] | null;
  default: string | null;
}

export interface ProgramDescription {
  name: string;
  /** Extents of .lanes and .grid as the program writes them. */
  lanes: string[];
  grid: string[];
  block: number[];
  entry: number;
  entry_label: string | null;
  instructions: number;
  shared_bytes: number;
  private_bytes: number;
  params: number;
  labels: number;
  metas: number;
  relaxed: boolean;
}

export class Program implements Disposable_ {
  readonly name: string;
  /** Number of instructions. */
  readonly length: number;
  readonly hash: string;
  readonly params: Param[];
  readonly text: string;
  readonly structured: string;
  describe(): ProgramDescription;
  verify(): void;
  encode(options?: { debug?: boolean }): Uint8Array;
  emit(target: string, options?: Record<string, string | number | boolean>): string | Uint8Array;
  bind(values?: Record<string, Value>, options?: LaunchOptions): Binding;
  run(values?: Record<string, Value>, options?: RunOptions): Promise<Record<string, Elements>>;
  dispose(): void;
  readonly disposed: boolean;
}

/** A program or graph with its arrays: run it again and again. */
export class Binding implements Disposable_ {
  /** Runs it and waits: for workers and Node. */
  launch(): void;
  run(options?: { signal?: AbortSignal }): Promise<void>;
  results(): Record<string, Elements>;
  /** The same on every backend. */
  resultsAsync(): Promise<Record<string, Elements>>;
  dispose(): void;
  readonly disposed: boolean;
}

export class Graph implements Disposable_ {
  readonly text: string;
  bind(values?: Record<string, Value>, options?: { backend?: string | Backend }): Binding;
  /** Gives its outputs. Where their sizes do not follow from the inputs, numbers for symbols are given too, or arrays of their size. */
  run(values?: Record<string, Value>, options?: { backend?: string | Backend; signal?: AbortSignal }): Promise<Record<string, Elements>>;
  dispose(): void;
  readonly disposed: boolean;
}

export class Circuit implements Disposable_ {
  readonly original: string;
  readonly canonical: string;
  readonly type: Type;
  readonly program: Program;
  run(inputs: Record<number, Data>, outputs: readonly number[], options?: { elements?: number; backend?: string | Backend }): Record<number, Elements>;
  /** The same on every backend. */
  runAsync(inputs: Record<number, Data>, outputs: readonly number[], options?: { elements?: number; backend?: string | Backend }): Promise<Record<number, Elements>>;
  dispose(): void;
  readonly disposed: boolean;
}

export class Tensor implements Disposable_ {
  readonly type: TensorType;
  readonly shape: number[];
  readonly length: number;
  readonly backend: Backend;
  data(): Elements;
  item(): number;
  /** The same on every backend; on webgpu what was done with tensors is run for them. */
  dataAsync(): Promise<Elements>;
  itemAsync(): Promise<number>;
  reshape(shape: readonly number[]): Tensor;
  permute(order: readonly number[]): Tensor;
  transpose(): Tensor;
  slice(axis: number, start: number | bigint, stop?: number | bigint, step?: number | bigint): Tensor;
  contiguous(): Tensor;
  toString(): string;
  dispose(): void;
  readonly disposed: boolean;
}
