// Names of backends: the library's CPU is WebAssembly here. Must not know: backends.

export function backendName(native) {
  return native === 'cpu' ? 'wasm' : native;
}

export function nativeName(name) {
  return name === 'wasm' ? 'cpu' : name;
}
