// SPDX-License-Identifier: GPL-2.0
/*
 * For a test, installed nowhere: when loaded, sends frames of exact.h through the code that ds325-usb uses for bulk
 * transfers (payload.c and the decoder of ds325-ring), as its parameters say. dmesg has the hash of all ranges.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "../decoder.h"
#include "../payload.c"
#include "exact.h"

static unsigned int first, count = 100;
module_param(first, uint, 0444);
MODULE_PARM_DESC(first, "number of the first frame");
module_param(count, uint, 0444);
MODULE_PARM_DESC(count, "how many");

/* A frame's payload, in transfers as ds325-usb uses them. */
static unsigned int take(struct ds325_payload *payload, const u8 *data)
{
	unsigned int published = 0;

	for (u32 done = 0; done < payload->most;) {
		u32 length = min_t(u32, payload->most - done, 32 * 1024);

		published += ds325_payload_take(payload, data + done, length, length < 32 * 1024, 1);
		done += length;
		cond_resched();
	}
	return published;
}

static u64 no_clock(void)
{
	return 1;
}

static int __init ds325_exact_init(void)
{
	static struct ds325_payload payload;
	struct ds325_ring_header *ring = vzalloc(ds325_ring_bytes(2));
	u8 *data = vmalloc(DS325_PAYLOAD_HEADER + DS325_FRAME_BYTES);
	u64 hash = EXACT_HASH, decoding_ns = 0;
	unsigned int published = 0;
	int error = ring && data ? 0 : -ENOMEM;

	if (!error) {
		ds325_ring_make(ring, 2, DS325_RING_RANGE_U16);
		payload = (struct ds325_payload){
			.ring = ring,
			.decoder = ds325_node_decoder(),
			.blocks = ds325_node_blocks,
			.clock = no_clock,
			.interval_ns = 1000,
			.most = DS325_PAYLOAD_HEADER + DS325_FRAME_BYTES,
		};
		data[0] = DS325_PAYLOAD_HEADER;
	}
	for (unsigned int one = 0; one < count && !error; one++) {
		struct ds325_ring_slot *slot = ds325_ring_slot(ring, ring->published);
		u64 begun_ns;

		data[1] = 0x82 | (one & 1); /* end of header, end of frame, and the bit that tells frames apart */
		exact_frame(first + one, data + DS325_PAYLOAD_HEADER);
		begun_ns = ktime_get_ns();
		published += take(&payload, data);
		decoding_ns += ktime_get_ns() - begun_ns;
		hash = exact_hash(hash, ds325_ring_ranges(ring, slot));
	}
	if (!error)
		pr_info("ds325_exact: %u frames %016llx %llu ns\n", published, hash, decoding_ns);
	vfree(data);
	vfree(ring);
	return error;
}

static void __exit ds325_exact_exit(void)
{
}

module_init(ds325_exact_init);
module_exit(ds325_exact_exit);
MODULE_DESCRIPTION("Test: frames of random words through the DS325 driver's decoding");
MODULE_LICENSE("GPL");
