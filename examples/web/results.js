// What a program wrote, as a picture or curve and as a table. Must not know: where it ran.

const ROWS = 64; // of a table
const COLUMNS = 16;
const SIDE = 2048; // the longest side of a picture

function format(value) {
  if (typeof value === 'bigint' || Number.isInteger(value)) return String(value);
  return Number.isFinite(value) ? String(Number(value.toPrecision(7))) : String(value);
}

/** [height, width, channels] of an array that is a picture, or null. */
function pictureOf({ type, shape, data }) {
  if (!ArrayBuffer.isView(data) || /64$/.test(type) && type !== 'f64') return null;
  const [h, w, channels = 1] = shape;
  if (shape.length < 2 || shape.length > 3 || h < 8 || w < 8 || h > SIDE || w > SIDE) return null;
  return channels === 1 || ((channels === 3 || channels === 4) && type === 'u8') ? [h, w, channels] : null;
}

function drawPicture(canvas, data, type, [h, w, channels]) {
  Object.assign(canvas, { width: w, height: h });
  const image = new ImageData(w, h);
  let [low, high] = [0, 255];
  if (channels === 1 && type !== 'u8') {
    const finite = data.filter(Number.isFinite);
    [low, high] = [finite.reduce((a, b) => Math.min(a, b), Infinity), finite.reduce((a, b) => Math.max(a, b), -Infinity)];
  }
  const scale = high > low ? 255 / (high - low) : 0;
  for (let i = 0; i < h * w; i++)
    for (let c = 0; c < 4; c++)
      image.data[i * 4 + c] = c < channels && channels > 1 ? data[i * channels + c] : c === 3 ? 255 : (data[i] - low) * scale;
  canvas.getContext('2d').putImageData(image, 0, 0);
}

/** Curves of columns, one under another in colour; a single one as bars where it is short. */
function drawCurve(canvas, data, columns) {
  const [width, height] = [720, 240];
  Object.assign(canvas, { width, height });
  const draw = canvas.getContext('2d');
  const style = getComputedStyle(canvas);
  const rows = Math.floor(data.length / columns);
  for (let c = 0; c < columns; c++) {
    const values = Array.from({ length: rows }, (_, i) => Number(data[i * columns + c]));
    const finite = values.filter(Number.isFinite);
    let [low, high] = [Math.min(0, ...finite.slice(0, 50000)), Math.max(...finite.slice(0, 50000))];
    if (!(high > low)) [low, high] = [low - 1, low + 1];
    const y = (value) => height - 8 - ((value - low) / (high - low)) * (height - 16);
    draw.fillStyle = draw.strokeStyle = style.getPropertyValue(`--curve-${(c % 6) + 1}`).trim();
    draw.lineWidth = 2;
    if (columns === 1 && rows <= 128) {
      const step = width / rows;
      values.forEach((value, i) => draw.fillRect(i * step + step * 0.1, Math.min(y(value), y(0)), step * 0.8, Math.max(1, Math.abs(y(value) - y(0)))));
      continue;
    }
    draw.beginPath();
    values.forEach((value, i) => draw.lineTo((i / Math.max(1, rows - 1)) * width, y(value)));
    draw.stroke();
  }
}

function tableOf({ shape, data }) {
  const columns = shape.length > 1 ? shape.slice(1).reduce((a, b) => a * b, 1) : Math.min(8, data.length || 1);
  const shown = Math.min(columns, COLUMNS);
  const rows = Math.ceil(data.length / columns);
  const table = document.createElement('table');
  const head = table.createTHead().insertRow();
  const name = (text, scope) => Object.assign(document.createElement('th'), { textContent: text, scope });
  head.append(name('', 'col'), ...Array.from({ length: shown }, (_, i) => name(String(i), 'col')));
  const body = table.createTBody();
  for (let i = 0; i < Math.min(rows, ROWS); i++) {
    const row = body.insertRow();
    row.append(name(shape.length > 1 ? String(i) : String(i * columns), 'row'));
    for (let k = 0; k < shown && i * columns + k < data.length; k++) row.insertCell().textContent = format(data[i * columns + k]);
  }
  const rest = document.createElement('p');
  rest.className = 'note';
  const more = [rows > ROWS && `${rows - ROWS} more rows`, columns > shown && `${columns - shown} more columns`].filter(Boolean);
  rest.textContent = more.join(', ');
  const box = document.createElement('div');
  box.className = 'scroll';
  box.tabIndex = 0;
  box.append(table);
  return more.length ? [box, rest] : [box];
}

/** Shows arrays: [{ name, type, shape, data }]. */
export function showResults(element, arrays) {
  element.replaceChildren(...arrays.map((array) => {
    const part = document.createElement('article');
    const title = document.createElement('h3');
    const kind = document.createElement('small');
    kind.textContent = `${array.type}[${array.shape.join(', ')}]`;
    title.append(array.name, ' ', kind);
    part.append(title);
    const picture = pictureOf(array);
    const columns = array.shape.length === 2 ? array.shape[1] : array.shape.length === 1 ? 1 : 99;
    if (picture || (columns <= 6 && array.data.length / columns > 4 && !/\d{3,}$/.test(array.type))) {
      const canvas = document.createElement('canvas');
      canvas.className = picture ? 'picture' : 'curve';
      canvas.setAttribute('role', 'img');
      canvas.setAttribute('aria-label', `${array.name} as a ${picture ? 'picture' : 'curve'}`);
      part.append(canvas);
      element.append(part); // a canvas in the page has its colours
      if (picture) canvas.style.aspectRatio = `${picture[1]} / ${picture[0]}`;
      if (picture) drawPicture(canvas, array.data, array.type, picture);
      else drawCurve(canvas, array.data, columns);
    }
    const table = document.createElement('div');
    table.className = 'table';
    table.append(...tableOf(array));
    part.append(table);
    return part;
  }));
}
