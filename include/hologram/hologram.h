/* Hologram: the umbrella header. */
#ifndef HOLOGRAM_H
#define HOLOGRAM_H

#include <hologram/atlas.h>
#include <hologram/backend.h>
#include <hologram/builder.h>
#include <hologram/characters.h>
#include <hologram/circuit.h>
#include <hologram/circuit_run.h>
#include <hologram/class_memory.h>
#include <hologram/comm.h>
#include <hologram/config.h>
#include <hologram/devices.h>
#include <hologram/diagnostics.h>
#include <hologram/dim.h>
#include <hologram/dispatch.h>
#include <hologram/dlpack.h>
#include <hologram/emit.h>
#include <hologram/executor.h>
#include <hologram/graph.h>
#include <hologram/stablehlo.h>
#include <hologram/json_kernel.h>
#include <hologram/launch.h>
#include <hologram/operators.h>
#include <hologram/optimizer.h>
#include <hologram/program.h>
#include <hologram/program_cache.h>
#include <hologram/reflect.h>
#include <hologram/ops.h>
#include <hologram/status.h>
#include <hologram/tensor.h>
#include <hologram/tree.h>
#include <hologram/type.h>
#include <hologram/version.h>

#endif
