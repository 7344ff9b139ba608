// SPDX-License-Identifier: MIT
/*
 * Waiting for a time by the paths that Linux has. The absolute sleep of a SCHED_FIFO thread expires in hard-interrupt
 * context on every kernel, so it is the hard timer too; a timerfd does so on stock kernels but is left to a softirq
 * on PREEMPT_RT (hrtimer_setup_sleeper_on_stack() and __hrtimer_init() in the kernel's hrtimer.c).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "linux.h"

enum { NS_PER_S = 1000000000 };

/* The other thread of the paths that need one: sleeps until the time, then wakes the thread that asked. */
static struct helper {
	struct port_thread thread;
	struct port_semaphore asked;
	struct port_semaphore woken; /* PORT_PATH_FUTEX */
	int socket; /* PORT_PATH_NETWORK, or -1 */
	uint64_t due_ns;
	bool stop;
	bool taken;
} helper;

static struct timespec timespec_of(uint64_t time_ns)
{
	return (struct timespec){ .tv_sec = (time_t)(time_ns / NS_PER_S), .tv_nsec = (long)(time_ns % NS_PER_S) };
}

static enum port_status sleep_until(uint64_t due_ns)
{
	struct timespec due = timespec_of(due_ns);
	int error;

	do
		error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
	while (error == EINTR);
	return error ? linux_fail(PORT_FAILED, "clock_nanosleep", error) : PORT_OK;
}

/* Its failures reach main through linux_fail(). */
static void helper_main(void *argument)
{
	(void)argument;
	for (;;) {
		if (port_semaphore_wait(&helper.asked) != PORT_OK || helper.stop)
			return;
		if (sleep_until(helper.due_ns) != PORT_OK)
			return;
		if (helper.socket < 0)
			port_semaphore_post(&helper.woken);
		else if (send(helper.socket, "", 1, 0) != 1)
			linux_fail(PORT_FAILED, "sending on the loopback", errno);
	}
}

static enum port_status helper_start(int socket)
{
	enum port_status status;

	if (helper.taken)
		return linux_fail(PORT_FULL, "one thread at a time can be woken by another", 0);
	port_semaphore_open(&helper.asked, 0);
	port_semaphore_open(&helper.woken, 0);
	helper.socket = socket;
	helper.stop = false;
	/* It runs on the caller's CPUs, which it inherits. */
	status = linux_thread_start(&helper.thread, "waker", linux_priority(PORT_HIGH) + HELPER_ABOVE_HIGH,
				    PORT_ANY_CPU, helper_main, NULL);
	helper.taken = status == PORT_OK;
	return status;
}

static void helper_stop(void)
{
	helper.stop = true;
	port_semaphore_post(&helper.asked);
	port_thread_join(&helper.thread);
	if (helper.socket >= 0)
		close(helper.socket);
	helper.taken = false;
}

static enum port_status helper_ask(uint64_t due_ns)
{
	helper.due_ns = due_ns;
	return port_semaphore_post(&helper.asked);
}

enum port_status linux_open_timerfd(struct port_timer *timer)
{
	const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	*timer = (struct port_timer){ .path = PORT_PATH_SOFT_TIMER, .fd = fd };
	return fd < 0 ? linux_fail(PORT_FAILED, "timerfd_create", errno) : PORT_OK;
}

static enum port_status open_soft(struct port_timer *timer)
{
	if (!linux_is_realtime())
		return linux_fail(PORT_NOT_OFFERED,
				  "without PREEMPT_RT every timer of user space expires in hard-interrupt context", 0);
	return linux_open_timerfd(timer);
}

static enum port_status wait_soft(int fd, uint64_t due_ns)
{
	struct itimerspec due = { .it_value = timespec_of(due_ns) };
	uint64_t expirations;

	if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &due, NULL))
		return linux_fail(PORT_FAILED, "timerfd_settime", errno);
	while (read(fd, &expirations, sizeof(expirations)) != (ssize_t)sizeof(expirations))
		if (errno != EINTR)
			return linux_fail(PORT_FAILED, "reading a timerfd", errno);
	return PORT_OK;
}

static enum port_status socket_failed(const char *what, int receiver, int sender)
{
	enum port_status status = linux_fail(errno == EAFNOSUPPORT ? PORT_NOT_OFFERED : PORT_FAILED, what, errno);

	if (receiver >= 0)
		close(receiver);
	if (sender >= 0)
		close(sender);
	return status;
}

static enum port_status open_network(struct port_timer *timer)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int receiver = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int sender = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	enum port_status status;

	if (receiver < 0 || sender < 0)
		return socket_failed("a UDP socket", receiver, sender);
	if (bind(receiver, (struct sockaddr *)&address, length) ||
	    getsockname(receiver, (struct sockaddr *)&address, &length) ||
	    connect(sender, (struct sockaddr *)&address, length))
		return socket_failed("UDP on 127.0.0.1 (is the interface lo up?)", receiver, sender);
	status = helper_start(sender);
	if (status == PORT_OK) {
		timer->fd = receiver;
	} else {
		close(receiver);
		close(sender);
	}
	return status;
}

static enum port_status wait_network(int fd, uint64_t due_ns)
{
	char datagram;

	if (helper_ask(due_ns) != PORT_OK)
		return PORT_FAILED;
	while (recv(fd, &datagram, 1, 0) != 1)
		if (errno != EINTR)
			return linux_fail(PORT_FAILED, "receiving on the loopback", errno);
	return PORT_OK;
}

enum port_status port_timer_open(struct port_timer *timer, enum port_path path)
{
	*timer = (struct port_timer){ .path = path, .fd = -1 };
	switch (path) {
	case PORT_PATH_SLEEP:
	case PORT_PATH_HARD_TIMER:
		return PORT_OK;
	case PORT_PATH_SOFT_TIMER:
		return open_soft(timer);
	case PORT_PATH_NETWORK:
		return open_network(timer);
	case PORT_PATH_FUTEX:
		return helper_start(-1);
	case PORT_PATHS:
		break;
	}
	return linux_fail(PORT_NOT_OFFERED, "an unknown path", 0);
}

/* Any nanosecond will do. */
uint64_t port_timer_next_ns(const struct port_timer *timer, uint64_t from_ns)
{
	(void)timer;
	return from_ns;
}

enum port_status port_timer_wait(struct port_timer *timer, uint64_t due_ns)
{
	switch (timer->path) {
	case PORT_PATH_SOFT_TIMER:
		return wait_soft(timer->fd, due_ns);
	case PORT_PATH_NETWORK:
		return wait_network(timer->fd, due_ns);
	case PORT_PATH_FUTEX:
		return helper_ask(due_ns) != PORT_OK ? PORT_FAILED : port_semaphore_wait(&helper.woken);
	default:
		return sleep_until(due_ns);
	}
}

void port_timer_close(struct port_timer *timer)
{
	if (timer->path == PORT_PATH_NETWORK || timer->path == PORT_PATH_FUTEX)
		helper_stop();
	if (timer->fd >= 0)
		close(timer->fd);
}
