// SPDX-License-Identifier: GPL-2.0-only
/* The tracepoints themselves; tracepoints.h declares them. */
#define CREATE_TRACE_POINTS
#include "core/tracepoints.h"
