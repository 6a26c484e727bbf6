// The page: its parts, which of them is shown, and what all share.
import { Device } from './device.js';
import { Digits } from './digits.js';
import { Editor } from './editor.js';
import { Hashes } from './hashes.js';
import { SAMPLES } from './samples.js';
import { Zoom } from './zoom.js';

const LATEST = 5000; // milliseconds after which WebGPU is asked for, even if no program has run

const part = (name) => document.getElementById(name);
const device = new Device(part('device'), part('device-note'));
const editor = new Editor(part('editor'), device);
const parts = {
  editor,
  digits: new Digits(part('digits'), device),
  zoom: new Zoom(part('zoom'), device),
  hashes: new Hashes(part('hashes'), device, (file) => editor.open(file)),
};
let shown = null;

function show() {
  const wanted = location.hash.slice(1);
  const name = wanted in parts ? wanted : 'editor';
  for (const one of Object.keys(parts)) {
    part(one).hidden = one !== name;
    const link = document.querySelector(`nav a[href="#${one}"]`);
    if (one === name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (shown !== name) {
    parts[shown]?.hide?.();
    shown = name;
    scrollTo(0, 0);
    parts[name].show?.();
  }
}

addEventListener('hashchange', show);
show();
editor.open(SAMPLES[0].file, true);
await Promise.race([editor.computed, new Promise((go) => setTimeout(go, LATEST))]);
if ((await device.probe(editor.engine)).available) editor.prepare();
