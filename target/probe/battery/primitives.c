// SPDX-License-Identifier: MIT
#include "battery/primitives.h"

const struct benchmark primitive_benchmarks[] = {
	/* Its cost is in every other row: the reader of the result subtracts it. */
	{ "empty", primitive_empty },
	/* The study's table, in its order. */
	{ "mq context switch", primitive_context_switch },
	{ "mq send", primitive_mq_send },
	{ "mq receive", primitive_mq_receive },
	{ "mq send unblock", primitive_mq_send_unblock },
	{ "mq receive block", primitive_mq_receive_block },
	{ "mq workload", primitive_mq_workload },
	{ "mutex release unblock", primitive_mutex_release_unblock },
	{ "mutex request block", primitive_mutex_request_block },
	{ "mutex pip", primitive_mutex_pip },
	{ "mutex workload", primitive_mutex_workload },
	{ "mutex acquisition", primitive_mutex_acquisition },
	{ "mutex release", primitive_mutex_release },
	{ "sem signal unblock", primitive_sem_signal_unblock },
	{ "sem wait block", primitive_sem_wait_block },
	{ "sem signaling with prio", primitive_sem_signaling_with_prio },
	{ "sem signal", primitive_sem_signal },
	{ "sem wait", primitive_sem_wait },
	{ "sem workload", primitive_sem_workload },
	/* Not in the study. */
	{ "event signal", primitive_event_signal },
	{ "event signal unblock", primitive_event_signal_unblock },
	{ "clock read", primitive_clock_read },
	{ "cycle read", primitive_cycle_read },
	{ "inversion with PI", primitive_inversion_with_pi },
	{ "inversion without PI", primitive_inversion_without_pi },
	{ 0 },
};
