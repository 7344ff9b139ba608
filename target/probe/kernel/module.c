// SPDX-License-Identifier: GPL-2.0
/*
 * The probe as a module: runs one family of the battery while it loads, and keeps the result for reading in
 * /proc/rtqual-probe until it is unloaded. `insmod rtqual-probe.ko family=wakeup iterations=1000`.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "battery.h"
#include "kernel.h"

static char *family = "wakeup";
module_param(family, charp, 0444);
MODULE_PARM_DESC(family, "the family of benchmarks to run");
static unsigned int iterations;
module_param(iterations, uint, 0444);
MODULE_PARM_DESC(iterations, "samples of each series; 0: as many as the family says");
static unsigned long long interval_ns;
module_param(interval_ns, ullong, 0444);
MODULE_PARM_DESC(interval_ns, "period in ns; 0: as the family says");
static int cpu;
module_param(cpu, int, 0444);
MODULE_PARM_DESC(cpu, "CPU of the measuring threads");
static int priority = 80;
module_param(priority, int, 0444);
MODULE_PARM_DESC(priority, "SCHED_FIFO priority of the measuring thread");
static unsigned int seed;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "ns that shift the phase");

/* For objects beside the samples, however few these are: the loop's four stages alone work on 8,192 words. */
enum { EXTRA_WORDS = 16384, SAMPLES_MOST = 64 * 1024 * 1024 };

static struct proc_dir_entry *file;

static ssize_t read_result(struct file *open_file, char __user *buffer, size_t count, loff_t *position)
{
	size_t length;
	const char *result = kernel_result(&length);

	return simple_read_from_buffer(buffer, count, position, result, length);
}

static const struct proc_ops operations = {
	.proc_read = read_result,
	.proc_lseek = default_llseek,
};

static const struct family *family_of(const char *name)
{
	const struct family *one = battery;

	while (one->name && strcmp(one->name, name))
		one++;
	return one->name ? one : NULL;
}

static int run(const struct family *chosen)
{
	const struct options options = {
		.iterations = iterations, .interval_ns = interval_ns, .cpu = cpu, .seed = seed
	};
	struct workspace *workspace = kzalloc(sizeof(*workspace), GFP_KERNEL);
	enum port_status status;

	if (!workspace)
		return -ENOMEM;
	status = battery_run(chosen, &options, workspace);
	if (status != PORT_OK)
		pr_err("rtqual-probe: %s\n", workspace->complaint);
	kfree(workspace);
	if (status == PORT_OK)
		return 0;
	return status == PORT_DENIED ? -EPERM : -EIO;
}

static int __init rtqual_probe_init(void)
{
	const struct family *chosen = family_of(family);
	size_t samples;
	int error;

	if (!chosen || priority < PRIORITY_LEAST || priority > PRIORITY_MOST) {
		pr_err("rtqual-probe: family=%s priority=%d: no such family, or a priority not from %d to %d\n", family,
		       priority, PRIORITY_LEAST, PRIORITY_MOST);
		return -EINVAL;
	}
	samples = (size_t)SERIES_MOST * (iterations ? iterations : chosen->iterations) + chosen->words + EXTRA_WORDS;
	if (samples > SAMPLES_MOST) {
		pr_err("rtqual-probe: iterations=%u: too many for the kernel's memory\n", iterations);
		return -EINVAL;
	}
	error = kernel_setup(priority, samples);
	if (error)
		return error;
	error = run(chosen);
	file = error ? NULL : proc_create("rtqual-probe", 0400, NULL, &operations);
	if (!file) {
		kernel_release();
		return error ? error : -ENOMEM;
	}
	return 0;
}

static void __exit rtqual_probe_exit(void)
{
	proc_remove(file);
	kernel_release();
}

module_init(rtqual_probe_init);
module_exit(rtqual_probe_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("rtqual's probe in kernel space");
