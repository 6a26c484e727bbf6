// Extents of arrays as programs write them: numbers, names, + - * / ( ), ceil(a / b), min, max. Must not know: programs.

/** The value of an extent, or undefined where a name has none. A quotient is cut, below ceil rounded up. */
export function evaluate(text, numbers) {
  const tokens = text.match(/\d+|\w+|[-+*/(),]/g) ?? [];
  let at = 0;
  const take = (token) => tokens[at] === token && ++at;

  function primary(up) {
    const token = tokens[at++];
    if (token === '(') {
      const value = sum(up);
      take(')');
      return value;
    }
    if (/^\d/.test(token)) return Number(token);
    if (!take('(')) return numbers.get(token);
    const values = [];
    do values.push(sum(token === 'ceil')); while (take(','));
    take(')');
    if (values.includes(undefined)) return undefined;
    return token === 'min' ? Math.min(...values) : token === 'max' ? Math.max(...values) : values[0];
  }

  function product(up) {
    let value = primary(up);
    for (;;) {
      if (take('*')) value *= primary(up) ?? NaN;
      else if (take('/')) value = (up ? Math.ceil : Math.floor)(value / (primary(up) ?? NaN));
      else return value;
    }
  }

  function sum(up) {
    let value = product(up);
    for (;;) {
      if (take('+')) value += product(up) ?? NaN;
      else if (take('-')) value -= product(up) ?? NaN;
      else return Number.isNaN(value) ? undefined : value;
    }
  }

  return sum(false);
}

/** The number of elements of such extents, or undefined. */
export function count(dims, numbers) {
  let all = 1;
  for (const dim of dims) all *= evaluate(dim, numbers) ?? NaN;
  return Number.isNaN(all) ? undefined : all;
}

const NAME = /^[A-Za-z_]\w*$/;

/** Finds names from arrays: { dims, shape } where the shape is known, { dims, length } else. Adds to numbers what follows. */
export function solve(arrays, numbers) {
  for (let found = true; found;) {
    found = false;
    for (const { dims, shape, length } of arrays) {
      const open = dims.filter((dim) => evaluate(dim, numbers) === undefined);
      if (shape && shape.length === dims.length) {
        dims.forEach((dim, i) => {
          if (NAME.test(dim) && !numbers.has(dim)) found = !!numbers.set(dim, shape[i]);
        });
      } else if (open.length === 1 && NAME.test(open[0])) {
        const rest = count(dims.filter((dim) => dim !== open[0]), numbers);
        const value = rest ? length / rest : NaN;
        if (Number.isInteger(value)) found = !!numbers.set(open[0], value);
      }
    }
  }
}
