// SPDX-License-Identifier: GPL-2.0
/* Makes wake-ups late in a way that is known: a thread or a tasklet that does one thing again and again. */
#include <linux/anon_inodes.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/mman.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

enum {
	HELD_US = 200,
	PAUSE_MS = 3,
	FLOOD_US = 120,
	FLOODS = 3,
	LOCKED_US = 600,
	FAULT_US = 100,
	PAGES = 16,
	WARM = 256
};

static char *way = "none";
module_param(way, charp, 0444);
MODULE_PARM_DESC(way, "irqs, preempt, softirq, lock, faults or none");

static struct task_struct *thread;
static struct mm_struct *own; /* of the process that loads the module: there the faults are taken */
static int floods;

static noinline void late_hold_interrupts(void)
{
	unsigned long flags;

	local_irq_save(flags);
	udelay(HELD_US);
	local_irq_restore(flags);
}

static noinline void late_hold_preemption(void)
{
	preempt_disable();
	udelay(HELD_US);
	preempt_enable();
}

static void late_flood(struct tasklet_struct *tasklet);
static DECLARE_TASKLET(late_tasklet, late_flood);

static void late_flood(struct tasklet_struct *tasklet)
{
	udelay(FLOOD_US);
	if (--floods > 0)
		tasklet_schedule(tasklet);
}

static noinline void late_flood_softirqs(void)
{
	floods = FLOODS;
	tasklet_schedule(&late_tasklet);
}

static struct mm_struct *late_measured(void)
{
	struct mm_struct *mm = NULL;
	struct task_struct *one;

	rcu_read_lock();
	for_each_process(one) {
		if (!strcmp(one->comm, "cyclictest"))
			mm = get_task_mm(one);
		if (mm)
			break;
	}
	rcu_read_unlock();
	return mm;
}

/*
 * The page from which cyclictest reads the time is taken from it while the lock on its memory is held: the fault that
 * gives it back needs that lock.
 */
static noinline void late_hold_lock(void)
{
	struct mm_struct *mm = late_measured();
	struct vm_area_struct *vvar;

	if (!mm)
		return;
	mmap_write_lock(mm);
	vvar = find_vma(mm, (unsigned long)mm->context.vdso - PAGE_SIZE);
	if (vvar && vvar->vm_flags & VM_PFNMAP)
		zap_vma_ptes(vvar, vvar->vm_start, vvar->vm_end - vvar->vm_start);
	usleep_range(LOCKED_US, LOCKED_US + 1);
	mmap_write_unlock(mm);
	mmput(mm);
}

static vm_fault_t late_fault(struct vm_fault *vmf)
{
	udelay(FAULT_US);
	vmf->page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	return vmf->page ? 0 : VM_FAULT_OOM;
}

static const struct vm_operations_struct late_pages = { .fault = late_fault };

static int late_map(struct file *file, struct vm_area_struct *vma)
{
	vma->vm_ops = &late_pages;
	return 0;
}

static const struct file_operations late_file = { .owner = THIS_MODULE, .mmap = late_map };

static noinline void late_fault_storm(void)
{
	struct file *file = anon_inode_getfile("late", &late_file, NULL, O_RDWR);
	unsigned long at;

	if (IS_ERR(file))
		return;
	kthread_use_mm(own);
	at = vm_mmap(file, 0, PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	if (!IS_ERR_VALUE(at)) {
		for (unsigned long page = 0; page < PAGES; page++)
			if (put_user(1, (char __user *)(at + page * PAGE_SIZE)))
				break;
		vm_munmap(at, PAGES * PAGE_SIZE);
	}
	kthread_unuse_mm(own);
	fput(file);
}

static noinline void late_nothing(void)
{
	udelay(HELD_US);
}

static int late_work(void *unused)
{
	while (!kthread_should_stop()) {
		if (!strcmp(way, "irqs"))
			late_hold_interrupts();
		else if (!strcmp(way, "preempt"))
			late_hold_preemption();
		else if (!strcmp(way, "softirq"))
			late_flood_softirqs();
		else if (!strcmp(way, "lock"))
			late_hold_lock();
		else if (!strcmp(way, "faults"))
			late_fault_storm();
		else
			late_nothing();
		usleep_range(PAUSE_MS * 1000 + 77, PAUSE_MS * 1000 + 78);
	}
	return 0;
}

/* What the kernel sets aside at the first pages asked of it, with interrupts off, is not what is to be seen. */
static void __init late_warm(void)
{
	static struct page *pages[WARM] __initdata;

	for (int page = 0; page < WARM; page++)
		pages[page] = alloc_page(GFP_KERNEL);
	for (int page = 0; page < WARM; page++)
		if (pages[page])
			__free_page(pages[page]);
}

static int __init late_init(void)
{
	late_warm();
	own = get_task_mm(current);
	thread = kthread_run(late_work, NULL, "late");
	return PTR_ERR_OR_ZERO(thread);
}

static void __exit late_exit(void)
{
	kthread_stop(thread);
	tasklet_kill(&late_tasklet);
	if (own)
		mmput(own);
}

module_init(late_init);
module_exit(late_exit);
MODULE_DESCRIPTION("Makes wake-ups late");
MODULE_LICENSE("GPL");
