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

/** Runs read(list), which gives a status, over a text; throws an error that has all diagnostics, and prints the text with carets. */
export function withDiagnostics(core, name, text, read) {
  const list = core.call('hg_diagnostics_create', 0);
  if (!list) throw new HologramError('out of memory', { status: 'HG_ERROR_OUT_OF_MEMORY' });
  try {
    const status = read(list);
    if (status === values.HG_OK) return;
    const diagnostics = readAll(core, list);
    const error = core.error(status, { diagnostics });
    if (diagnostics.length) {
      core.scope((scope) => {
        const source = scope.text(text);
        const printed = core.call('hg_diagnostics_print', list, name, source.at, source.length);
        error.message = core.text(printed)?.trimEnd() ?? error.message;
        core.call('hg_string_free', printed);
      });
      const [first] = diagnostics;
      Object.assign(error, { code: first.code || error.code, line: first.line || undefined, column: first.column || undefined });
    }
    throw error;
  } finally {
    core.call('hg_diagnostics_destroy', list);
  }
}
