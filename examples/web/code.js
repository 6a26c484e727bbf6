// A text area with line numbers, colours and marks at places of errors. The text area is the browser's own, so that keyboards, screen
// readers and undo work; what is seen lies behind it. Must not know: languages' meaning, who checks.

const ATLAS = /(?<comment>;.*)|(?<string>"(?:\\.|[^"\\])*")|(?<directive>^\s*\.\w+)|(?<word>\b(?:let|if|else|while|for|in|step|reversed|loop|break|continue|return|fn|buffer|out|inout)\b)|(?<type>\b(?:[iu](?:8|16|32|64|128|256|512|1024|2048|4096)|b?f16|f32|f64|pred)\b)|(?<number>\b(?:0x[\da-fA-F.]+(?:p[-+]?\d+)?|\d[\d_.]*(?:e[-+]?\d+)?)\b)/g;
const JSON_TEXT = /(?<directive>"(?:\\.|[^"\\])*"(?=\s*:))|(?<string>"(?:\\.|[^"\\])*")|(?<word>\b(?:true|false|null)\b)|(?<number>-?\b\d[\d.eE+-]*)/g;
const COLOURED = 100000; // characters; longer texts are shown plainly

/** The place of a byte of a line, counted from 1 in UTF-8 as the library does, among the line's characters, from 0. */
export function characterOf(line, column) {
  let bytes = 1;
  let at = 0;
  for (const character of line) {
    if (bytes >= column) break;
    const code = character.codePointAt(0);
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    at += character.length;
  }
  return at;
}

function tokens(line, pattern) {
  const found = [];
  for (const match of line.matchAll(pattern)) {
    const [kind] = Object.entries(match.groups).find(([, text]) => text !== undefined);
    found.push({ from: match.index, to: match.index + match[0].length, kind });
  }
  return found;
}

/** A line in its colours, with marks: pieces end where a colour or a mark does. */
function paint(line, pattern, marks) {
  const colours = pattern ? tokens(line, pattern) : [];
  const text = marks.some(({ from }) => from >= line.length) ? `${line} ` : line;
  const cuts = new Set([0, text.length, ...[...colours, ...marks].flatMap(({ from, to }) => [from, Math.min(to, text.length)])]);
  const places = [...cuts].sort((a, b) => a - b);
  return places.slice(1).map((to, i) => {
    const from = places[i];
    const piece = document.createElement('span');
    const classes = [...colours, ...marks].filter((one) => one.from <= from && to <= one.to).map((one) => one.kind);
    if (classes.length) piece.className = classes.join(' ');
    piece.textContent = text.slice(from, to);
    return piece;
  });
}

export class Code {
  #area;
  #back;
  #numbers;
  #diagnostics = [];

  /** element: one with a text area; changed() is told when its text changes. */
  constructor(element, changed) {
    this.#area = element.querySelector('textarea');
    this.#back = document.createElement('pre');
    this.#numbers = document.createElement('pre');
    for (const [part, name] of [[this.#back, 'back'], [this.#numbers, 'numbers']]) {
      part.className = name;
      part.setAttribute('aria-hidden', 'true');
    }
    element.prepend(this.#numbers, this.#back);
    this.#area.addEventListener('input', () => {
      this.#diagnostics = [];
      this.#draw();
      changed();
    });
    this.#area.addEventListener('scroll', () => this.#follow());
  }

  get text() {
    return this.#area.value;
  }

  set text(text) {
    this.#area.value = text;
    this.#area.scrollTop = this.#area.scrollLeft = 0;
    this.#diagnostics = [];
    this.#draw();
  }

  /** Marks the places of errors and warnings. */
  mark(diagnostics) {
    this.#diagnostics = diagnostics.filter(({ line }) => line > 0);
    this.#area.setAttribute('aria-invalid', String(diagnostics.length > 0));
    this.#draw();
  }

  /** Puts the caret at a place, counted as diagnostics do. */
  goto({ line, column }) {
    const lines = this.text.split('\n');
    const before = lines.slice(0, line - 1).reduce((all, one) => all + one.length + 1, 0);
    const at = before + characterOf(lines[line - 1] ?? '', column);
    this.#area.focus();
    this.#area.setSelectionRange(at, at);
    const height = this.#area.scrollHeight / lines.length;
    this.#area.scrollTop = Math.max(0, (line - 4) * height);
  }

  #draw() {
    const lines = this.text.split('\n');
    const pattern = this.text.length > COLOURED ? null : /^\s*[{[]/.test(this.text) ? JSON_TEXT : ATLAS;
    const marked = new Map();
    for (const { line, column, length, severity } of this.#diagnostics) {
      const text = lines[line - 1] ?? '';
      const from = characterOf(text, column);
      const to = Math.max(from + 1, characterOf(text, column + length));
      marked.set(line, [...(marked.get(line) ?? []), { from, to, kind: `mark ${severity}` }]);
    }
    const painted = lines.flatMap((line, i) => [...paint(line, pattern, marked.get(i + 1) ?? []), '\n']);
    this.#back.replaceChildren(...painted);
    this.#numbers.replaceChildren(...lines.map((_, i) => {
      const number = document.createElement('span');
      number.textContent = i + 1;
      if (marked.has(i + 1)) number.className = 'wrong';
      return number;
    }));
    this.#follow();
  }

  #follow() {
    this.#back.scrollTop = this.#numbers.scrollTop = this.#area.scrollTop;
    this.#back.scrollLeft = this.#area.scrollLeft;
  }
}
