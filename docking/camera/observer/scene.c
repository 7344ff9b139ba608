// SPDX-License-Identifier: MIT
/*
 * scene - make the software camera's live frames (docking/camera/software/live.h), in no time of the guest's.
 *
 * The camera asks by a store that no other code has. While the frame is made the guest's CPU stands at that instruction,
 * and with it its clock, which counts instructions: as light needs no processor to fall on a sensor.
 */
#include <stdlib.h>
#include <string.h>

#include "camera/software/live.h"
#include "../../../target/observers/qemu.h"

/* movl $LIVE_ASKED, LIVE_FROM(%rax) */
static const uint8_t asks[] = { 0xc7, 0x80, 'R', 'T', 'Q', 'U', 'S', 'C', 'E', 'N' };

/* QEMU looks this and qemu_plugin_install() up by name. */
const int qemu_plugin_version = PLUGIN_INTERFACE;

/* A global because the interface hands no data to the translation callback. */
static struct {
	struct lens lens;
	struct hit hits[DS325_PIXELS];
	struct live_request request;
	bool ready; /* the lens */
} g;

static bool sound(const struct live_request *request)
{
	return request->scene.waypoint_count == 1 && request->scene.clutter_count >= 0 &&
	       request->scene.clutter_count <= CLUTTER;
}

/* Where something is wrong the camera finds nothing made, and makes it itself. */
static void make(unsigned int vcpu_index, uint32_t info, uint64_t at, void *unused)
{
	struct live_request *request = &g.request;
	const size_t head = offsetof(struct live_request, frame);

	(void)vcpu_index;
	(void)info;
	(void)unused;
	if (cpu_memory_rw_debug(current_cpu, at, request, head, false) || !sound(request))
		return;
	if (!g.ready || g.lens.k1 != request->k1 || g.lens.k2 != request->k2) {
		g.lens.k1 = request->k1;
		g.lens.k2 = request->k2;
		lens_make(&g.lens);
		g.ready = true;
	}
	sensor_frame(&request->sensor, &g.lens, &request->scene, request->time_s, request->number, g.hits,
		     request->frame, NULL);
	request->made = 1;
	if (!cpu_memory_rw_debug(current_cpu, at + head, request->frame, sizeof(request->frame), true))
		cpu_memory_rw_debug(current_cpu, at + offsetof(struct live_request, made), &request->made,
				    sizeof(request->made), true);
}

static void instrument(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (qemu_plugin_insn_size(insn) == sizeof(asks) && !memcmp(insn_bytes(insn), asks, sizeof(asks)))
			qemu_plugin_register_vcpu_mem_cb(insn, make, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W, NULL);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	(void)argv;
	if (argc)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, instrument);
	return 0;
}
