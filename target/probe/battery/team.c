// SPDX-License-Identifier: MIT
/* Threads that wait at a gate until all of them are there. */
#include "battery/team.h"

struct team {
	struct port_semaphore gate;
	uint32_t cancelled;
};

struct member {
	struct port_thread thread;
	const struct role *role;
	struct team *team;
	enum port_status status;
};

static void member_main(void *argument)
{
	struct member *member = argument;

	member->status = port_semaphore_wait(&member->team->gate);
	if (member->status == PORT_OK && !shared_get32(&member->team->cancelled))
		member->status = member->role->play(member->role->state);
}

static enum port_status start(struct member *member)
{
	const struct role *role = member->role;

	member->status = PORT_OK;
	return port_thread_start(&member->thread, role->name, role->priority, role->cpu, member_main, member);
}

enum port_status team_run(struct run *run, const struct role *roles, unsigned int count)
{
	struct team *team = run_memory(run, sizeof(*team));
	struct member *members = run_memory(run, count * sizeof(*members));
	enum port_status status = PORT_OK;
	unsigned int started = 0;

	if (!team || !members)
		return PORT_FULL;
	team->cancelled = 0;
	TRY(port_semaphore_open(&team->gate, 0));
	for (; started < count; started++) {
		members[started].role = &roles[started];
		members[started].team = team;
		status = start(&members[started]);
		if (status != PORT_OK)
			break;
	}
	if (status != PORT_OK)
		shared_set32(&team->cancelled, 1);
	for (unsigned int i = 0; i < started; i++)
		port_semaphore_post(&team->gate);
	for (unsigned int i = 0; i < started; i++) {
		enum port_status ended = port_thread_join(&members[i].thread);

		if (status == PORT_OK)
			status = ended != PORT_OK ? ended : members[i].status;
	}
	port_semaphore_close(&team->gate);
	return status;
}

static enum port_status end_at_once(void *state)
{
	(void)state;
	return PORT_OK;
}

bool team_has_cpu(struct run *run, int cpu)
{
	const struct role role = { "try", PORT_LOW, cpu, end_at_once, NULL };
	uint32_t *memory = run->memory;
	size_t room = run->room;
	bool has = team_run(run, &role, 1) == PORT_OK;

	run->memory = memory;
	run->room = room;
	return has;
}
