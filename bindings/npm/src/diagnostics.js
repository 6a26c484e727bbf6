// Lists of errors and warnings with their places, as objects. Must not know: what is read.
import { HologramError, values } from './core.js';

const SEVERITIES = ['error', 'warning', 'note', 'fault'];

function readAll(core, list) {
  return Array.from({ length: core.call('hg_diagnostics_count', list) }, (_, i) => {
    const said = core.read('hg_diagnostic', core.call('hg_diagnostics_get', list, i));
    const { code, message, hint, line, column, length } = said;
    return { severity: SEVERITIES[said.severity], code, message, hint, line, column, length };
  });
}

/**
 * Runs read(list, made), which gives a status, over a text; gives the address that it put at made. Throws an error that has all diagnostics,
 * and prints the text with carets.
 */
export function withDiagnostics(core, name, text, read) {
  const list = core.call('hg_diagnostics_create', 0);
  if (!list) throw new HologramError('out of memory', { status: 'HG_ERROR_OUT_OF_MEMORY' });
  try {
    const [status, address] = core.scope((scope) => {
      const made = scope.zeros(4);
      return [read(list, made), core.view.getUint32(made, true)];
    });
    if (status === values.HG_OK) return address;
    const diagnostics = readAll(core, list);
    const error = core.error(status, { diagnostics });
    if (diagnostics.length) {
      core.scope((scope) => {
        const source = scope.text(text);
        error.message = core.takeText(core.call('hg_diagnostics_print', list, name, source.at, source.length))?.trimEnd() ?? error.message;
      });
      const [first] = diagnostics;
      Object.assign(error, { code: first.code || error.code, line: first.line || undefined, column: first.column || undefined });
    }
    throw error;
  } finally {
    core.call('hg_diagnostics_destroy', list);
  }
}
