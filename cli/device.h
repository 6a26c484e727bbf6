/* A device as commands use it: opened in steps, and what it does is over when a call returns. Where
 * a device cannot be waited for, its events are asked for instead. Must not know: options. */
#ifndef HG_CLI_DEVICE_H
#define HG_CLI_DEVICE_H

#include <hologram/backend.h>
#include <hologram/graph.h>

hg_status cli_device_open(const hg_config *config, hg_backend **backend) HG_NODISCARD;
/* hg_buffer_write, hg_buffer_read, of the default context. */
hg_status cli_device_write(hg_backend *b, hg_buffer buffer, const void *data,
                           uint64_t length) HG_NODISCARD;
hg_status cli_device_read(hg_backend *b, hg_buffer buffer, uint64_t offset, void *data,
                          uint64_t length) HG_NODISCARD;
hg_status cli_device_read_pool(hg_backend *b, hg_pool pool, void *data,
                               uint64_t length) HG_NODISCARD;
/* hg_backend_execute_program_with_params, and launches of bindings. */
hg_status cli_device_execute(hg_backend *b, const hg_program *program, const hg_launch *launch,
                             const hg_params *params) HG_NODISCARD;
hg_status cli_device_launch(hg_backend *b, hg_binding *binding) HG_NODISCARD;
hg_status cli_device_launch_graph(hg_backend *b, hg_graph_binding *binding) HG_NODISCARD;

#endif
