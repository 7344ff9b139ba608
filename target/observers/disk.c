// SPDX-License-Identifier: MIT
/*
 * disk - complete a guest's disk requests at times of its own clock, by a model of each disk.
 *
 * QEMU completes a request when the host has, which no two runs share. So its block layer is held quiesced from the
 * guest's first instruction on: what a device submits is parked in the disk's queue. A timer of the guest's clock then
 * takes the first that waits and runs it to its end while time stands still, one request after the other in the order
 * in which they were submitted.
 *
 * What a request is shows only once it was run. Each waits as long as a read's beginning takes; what moving its octets
 * takes, and a write or a flush longer than a read, keeps the disk busy afterwards and the next request waiting.
 *
 * Devices submit in the store that tells them of a request (virtio without ioeventfd, xHCI); a store to a device ends its
 * block of instructions under the instruction clock, so only last instructions are watched.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

/* QEMU looks this and qemu_plugin_install() up by name. */
const int qemu_plugin_version = PLUGIN_INTERFACE;

/* Not part of that interface; but QEMU 7.2 exports them. */
void qemu_mutex_lock_iothread_impl(const char *file, int line);
void qemu_mutex_unlock_iothread(void);
bool qemu_mutex_iothread_locked(void);
void bdrv_drain_all_begin(void);
void bdrv_drain_all_end(void);
void timer_init_full(void *timer, void *group, int clock, int scale, int attributes, void (*due)(void *), void *opaque);
void timer_mod(void *timer, int64_t when);
int64_t qemu_clock_get_ns(int clock);
void *blk_all_next(void *backend);
void *blk_get_stats(void *backend);
const char *blk_name(void *backend);
bool qemu_co_enter_next_impl(void *queue, void *lock);
void blk_set_disable_request_queuing(void *backend, bool disable);

enum { ARM_BYTES = 4, VIRTUAL_CLOCK = 1, MOST_DISKS = 8, TIMER_BYTES = 512 };
enum { READ = 1, WRITE, FLUSH, KINDS = 5 }; /* of include/block/accounting.h */
enum { MUTEX_BYTES = 48 };       /* stand before its sums: octets, then requests, by kind */
enum { QUEUE_BEFORE = 16, QUIESCED_BEFORE = 24 }; /* the field that blk_set_disable_request_queuing() writes */

struct sums {
	uint64_t bytes[KINDS], requests[KINDS];
};

/* A disk's model, in ns, and in ns for 1024 octets. */
struct model {
	long long read, write, flush, read_kib, write_kib;
};

struct disk {
	char name[32];
	struct model model;
	void *backend;
	char **queue; /* of requests that wait */
	struct sums before;
	int64_t free_at;
	bool armed;
	char timer[TIMER_BYTES] __attribute__((aligned(16)));
};

/* A global because the interface hands no data to the translation callback. */
static struct {
	struct disk disks[MOST_DISKS];
	int count;
	bool held;
} g;

static void arm(struct disk *disk)
{
	int64_t now = qemu_clock_get_ns(VIRTUAL_CLOCK);

	disk->armed = true;
	timer_mod(disk->timer, (now > disk->free_at ? now : disk->free_at) + disk->model.read);
}

static void arm_all(void)
{
	for (struct disk *disk = g.disks; disk < g.disks + g.count; disk++) {
		if (!disk->armed && disk->backend && disk->queue[0])
			arm(disk);
	}
}

static struct sums sums_of(const struct disk *disk)
{
	struct sums sums;

	memcpy(&sums, (const char *)blk_get_stats(disk->backend) + MUTEX_BYTES, sizeof(sums));
	return sums;
}

static int64_t busy_ns(const struct disk *disk, const struct sums *now)
{
	const struct model *model = &disk->model;
	uint64_t read_kib = now->bytes[READ] - disk->before.bytes[READ],
		 written_kib = now->bytes[WRITE] - disk->before.bytes[WRITE];
	uint64_t writes = now->requests[WRITE] - disk->before.requests[WRITE],
		 flushes = now->requests[FLUSH] - disk->before.requests[FLUSH];

	return (int64_t)(read_kib * model->read_kib / 1024 + written_kib * model->write_kib / 1024 +
			 writes * (model->write - model->read) + flushes * (model->flush - model->read));
}

static void release(void *opaque)
{
	struct disk *disk = opaque;
	struct sums now;

	disk->armed = false;
	if (disk->queue[0]) {
		qemu_co_enter_next_impl(disk->queue, NULL);
		bdrv_drain_all_begin(); /* to its end */
		bdrv_drain_all_end();
	}
	now = sums_of(disk);
	disk->free_at = qemu_clock_get_ns(VIRTUAL_CLOCK) + busy_ns(disk, &now);
	disk->before = now;
	arm_all();
}

static void stored(unsigned int vcpu_index, uint32_t info, uint64_t at, void *unused)
{
	(void)vcpu_index;
	(void)info;
	(void)at;
	(void)unused;
	for (struct disk *disk = g.disks; disk < g.disks + g.count; disk++) {
		if (!disk->armed && disk->queue[0]) {
			qemu_mutex_lock_iothread_impl(__FILE__, __LINE__);
			arm(disk);
			qemu_mutex_unlock_iothread();
		}
	}
}

static void give_up(const char *why)
{
	fprintf(stderr, "disk: %s\n", why);
	exit(2);
}

/* Where the queue lies in a backend is read from code: mov %sil,FIELD(%rdi); ret. */
static int32_t field_at(void)
{
	const uint8_t *code = (const uint8_t *)blk_set_disable_request_queuing;
	static const uint8_t moves[] = { 0x40, 0x88, 0xb7 };
	int32_t field;

	if (memcmp(code, moves, sizeof(moves)) || code[7] != 0xc3)
		give_up("another QEMU than is known");
	memcpy(&field, code + sizeof(moves), sizeof(field));
	return field;
}

static void find(struct disk *disk, int32_t field)
{
	for (void *backend = blk_all_next(NULL); backend; backend = blk_all_next(backend)) {
		if (!strcmp(blk_name(backend), disk->name))
			disk->backend = backend;
	}
	if (!disk->backend)
		give_up("a disk that was named is not there");
	disk->queue = (char **)((char *)disk->backend + field - QUEUE_BEFORE);
	if (disk->queue[0] || disk->queue[1] != (char *)disk->queue)
		give_up("the queue of a disk is not where it was");
	timer_init_full(disk->timer, NULL, VIRTUAL_CLOCK, 1, 0, release, disk);
	disk->before = sums_of(disk);
}

static void hold(void)
{
	bool locked = qemu_mutex_iothread_locked();
	int32_t field = field_at();

	if (!locked)
		qemu_mutex_lock_iothread_impl(__FILE__, __LINE__);
	for (int i = 0; i < g.count; i++)
		find(&g.disks[i], field);
	bdrv_drain_all_begin();
	for (int i = 0; i < g.count; i++) {
		if (*(const int *)((const char *)g.disks[i].backend + field - QUIESCED_BEFORE) < 1)
			give_up("a disk is not held");
	}
	if (!locked)
		qemu_mutex_unlock_iothread();
	g.held = true;
}

/* An x86 call stores too, and to no device. Those of four octets are taken for ARM's instructions, which all have four. */
static bool is_call(const uint8_t *code, size_t size)
{
	if (size == ARM_BYTES)
		return false;
	if (size && (code[0] & 0xf0) == 0x40) {
		code++;
		size--;
	}
	return size && (code[0] == 0xe8 || (code[0] == 0xff && size > 1 && (code[1] >> 3 & 7) == 2));
}

static void instrument(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, qemu_plugin_tb_n_insns(tb) - 1);

	(void)id;
	if (!g.held)
		hold();
	if (!is_call(insn_bytes(last), qemu_plugin_insn_size(last)))
		qemu_plugin_register_vcpu_mem_cb(last, stored, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W, NULL);
}

/* disk=NAME:READ:WRITE:FLUSH:READ_KIB:WRITE_KIB */
static bool add(const char *text)
{
	struct disk *disk = &g.disks[g.count];
	struct model *model = &disk->model;

	if (g.count == MOST_DISKS)
		return false;
	g.count++;
	return sscanf(text, "disk=%31[^:]:%lld:%lld:%lld:%lld:%lld", disk->name, &model->read, &model->write,
		      &model->flush, &model->read_kib, &model->write_kib) == 6 &&
	       model->read > 0 && model->write >= model->read && model->flush >= model->read;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!add(argv[i]))
			return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, instrument);
	return 0;
}
