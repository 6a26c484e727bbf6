// Names of backends: the library's CPU is WebAssembly here. Must not know: backends.

export function backendName(native) {
  return native === 'cpu' ? 'wasm' : native;
}

export function nativeName(name) {
  return name === 'wasm' ? 'cpu' : name === 'wgpu' ? 'webgpu' : name;
}

/** Whether its device works while the page goes on, and cannot be waited for. */
export function isDevice(native) {
  return native === 'webgpu';
}
