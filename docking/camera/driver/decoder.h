/* SPDX-License-Identifier: GPL-2.0 */
/* The decoder that all sources share, with vectors where the processor has them and they may be used. */
#ifndef DS325_DECODER_H
#define DS325_DECODER_H

#include "ds325/decode.h"

/* Made from ds325-ring's parameters when it is loaded; `calibration` may be written later, and it follows. */
const struct ds325_decoder *ds325_node_decoder(void);

/*
 * Decode as ds325-ring's parameter `decode` says, DS325_SLICE_BLOCKS at a time. Vector registers are held, with
 * preemption off, only within a slice; between slices other threads may run. Where vector registers must not be
 * touched, the scalar decoder is used. All decoders give the same bits. _atomic may be called in any context.
 */
ds325_blocks ds325_node_blocks, ds325_node_blocks_atomic;

/*
 * A row of a frame: at most some 2,700 instructions with SSE2 and 1,200 with AVX2, 5.4 and 2.4 microseconds on the
 * virtual board. Beside slices of 128 blocks, another thread's wake-ups came up to 24 microseconds late; beside 32, up
 * to 17.
 */
#define DS325_SLICE_BLOCKS 40

int ds325_decoder_make(void);
void ds325_decoder_remove(void);
bool ds325_decoder_depth(void);

#endif
