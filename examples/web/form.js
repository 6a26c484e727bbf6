// The form of a program's inputs: a field for each scalar and each array that it reads; words for arrays (WORDS). Must not know: who runs it.

export const WORDS = '1, 2, 3 · ramp · noise · zeros, each with a number of elements: ramp 100';
const WIDE = /^[iu](64|128|256|512|1024|2048|4096)$/;
const MOST = 1 << 22; // elements of an array

/** A hash of an integer: noise that is the same on every machine. */
function mix(x) {
  let h = Math.imul(x + 1, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 15), 0x85ebca77);
  return (h ^ (h >>> 13)) >>> 0;
}

function numberOf(type, text, name) {
  if (WIDE.test(type)) {
    if (!/^(0x[\da-f]+|[-+]?\d+)$/i.test(text)) throw new Error(`${name}: '${text}' is no integer`);
    return BigInt(text);
  }
  const value = /^[-+]?inf$/i.test(text) ? Number(text.replace(/inf/i, 'Infinity')) : Number(text);
  if (Number.isNaN(value) && !/^nan$/i.test(text)) throw new Error(`${name}: '${text}' is no number`);
  return value;
}

const FILLS = {
  zeros: () => 0,
  ramp: (i) => i,
  noise: (i, float) => (float ? (mix(i) >>> 8) / 2 ** 24 : mix(i) >>> 25),
};

/** Elements of a field's text. length: how many there are, unless the text says. */
function elementsOf(type, text, name, length) {
  const [, word, count] = /^\s*([a-z]+)\s*(\d*)\s*$/.exec(text) ?? [];
  if (!word || /^(inf|nan)$/.test(word)) return text.split(/[\s,;]+/).filter(Boolean).map((one) => numberOf(type, one, name));
  const fill = FILLS[word];
  if (!fill) throw new Error(`${name}: '${word}' is no word for an array: ${WORDS}`);
  const n = count ? Number(count) : length;
  if (n === undefined) throw new Error(`${name}: how many? write ${word} 100, or give the extents`);
  if (n > MOST) throw new Error(`${name}: ${n} elements are more than ${MOST}, the most of this page`);
  const wide = WIDE.test(type);
  const float = /f/.test(type);
  return Array.from({ length: n }, (_, i) => (wide ? BigInt(fill(i, false)) : fill(i, float)));
}

/** The form in an element. */
export class Form {
  #element;
  #params = [];
  #lanes = false;
  #key = '';

  constructor(element) {
    this.#element = element;
  }

  /** Shows the fields of a program that check() described; what stands in fields of the same names stays. */
  show({ params, lanes }, preset = null) {
    const wanted = params.filter((p) => p.kind === 'scalar' || (p.kind === 'buffer' && p.direction !== 'out'));
    const key = JSON.stringify([wanted, lanes]);
    if (key === this.#key && !preset) return;
    const before = preset ?? this.#texts();
    this.#key = key;
    this.#params = params;
    this.#lanes = lanes;
    const sizes = new Set(params.flatMap((p) => p.dims ?? []).flatMap((dim) => dim.match(/[A-Za-z_]\w*/g) ?? []));
    const fields = wanted.map((p) => {
      const scalar = p.kind === 'scalar';
      const usual = scalar ? (p.default ?? (sizes.has(p.name) ? '' : '1')) : p.direction === 'inout' ? 'zeros 16' : 'ramp 16';
      const hint = scalar ? (sizes.has(p.name) ? 'follows' : '') : WORDS;
      const label = scalar ? p.type : `${p.type}[${(p.dims ?? ['…']).join(', ')}]`;
      return this.#field(p.name, label, before[p.name] ?? usual, hint, scalar);
    });
    if (!lanes) fields.push(this.#field('lanes', 'how many run', before.lanes ?? '16', '', true));
    this.#element.replaceChildren(...fields);
    this.#element.hidden = !fields.length;
  }

  #field(name, type, value, hint, short) {
    const label = document.createElement('label');
    label.className = short ? 'field short' : 'field';
    const title = document.createElement('span');
    const kind = document.createElement('small');
    kind.textContent = type;
    title.append(name, ' ', kind);
    const input = document.createElement('input');
    Object.assign(input, { name, value, placeholder: hint, title: hint, autocomplete: 'off', spellcheck: false });
    label.append(title, input);
    return label;
  }

  #texts() {
    return Object.fromEntries([...this.#element.querySelectorAll('input')].map((input) => [input.name, input.value.trim()]));
  }

  /** { values, lanes } for a run; throws where a field says something wrong. */
  read() {
    const texts = this.#texts();
    const values = {};
    const numbers = new Map();
    const lengths = new Map(); // by extents
    for (const p of this.#params)
      if (p.kind === 'scalar' && texts[p.name]) {
        values[p.name] = numberOf(p.type, texts[p.name], p.name);
        numbers.set(p.name, Number(values[p.name]));
      }
    for (const p of this.#params) {
      if (p.kind !== 'buffer' || p.direction === 'out') continue;
      const key = (p.dims ?? []).join();
      const known = (p.dims ?? [NaN]).reduce((all, dim) => all * (/^\d+$/.test(dim) ? Number(dim) : numbers.get(dim) ?? NaN), 1);
      const length = lengths.get(key) ?? (Number.isNaN(known) ? undefined : known);
      values[p.name] = elementsOf(p.type, texts[p.name] ?? '', p.name, length);
      lengths.set(key, values[p.name].length);
    }
    return { values, lanes: this.#lanes || !texts.lanes ? undefined : numberOf('u32', texts.lanes, 'lanes') };
  }
}
