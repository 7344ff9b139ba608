// SPDX-License-Identifier: MIT
#include <math.h>
#include <string.h>

#include "approach.h"
#include "camera/software/random.h"

/* The camera's axes as those of the target's local frame. */
static const int axis_of[3] = { CROSS, RADIAL, ALONG };

void approach_default(struct approach_settings *settings)
{
	*settings = (struct approach_settings){
		.orbit_rate = 0.0011, /* some 600 km high */
		.arm_m = 0.5,
		.swing_rad = 0.1 * M_PI / 180,
		.swing_hz = 1,
		.thrust = 0.05,
		.offset_m = 0.01,
		.start_m = 0.25,
		.latch_m = 0.16, /* the end of the emulator's own approach */
		.bandwidth = 5,
		.damping = 0.9,
		.closing_most = 0.06,
		.closing_least = 0.01,
		.closing_rate = 0.6,
		.period_ns = 10000000,
		.quantum_ns = 1000000,
		.seed = 1,
	};
}

/* Within -1 and 1. */
static double drawn(struct random *random)
{
	return (double)(random_next(random) >> 11) / (1ull << 52) - 1;
}

/* The docking face's middle as seen from the target's centre of mass, in the camera's axes; `s` since the beginning. */
static void swing(const struct approach *approach, double s, struct sight *face)
{
	const struct approach_settings *o = &approach->settings;
	const double rate = 2 * M_PI * o->swing_hz, phase = rate * s + approach->swing_phase;
	const double turn_rate = o->swing_rad * rate * cos(phase);

	face->angle = o->swing_rad * sin(phase);
	face->position[0] = -o->arm_m * sin(face->angle);
	face->position[1] = 0;
	face->position[2] = -o->arm_m * cos(face->angle);
	face->velocity[0] = -o->arm_m * cos(face->angle) * turn_rate;
	face->velocity[1] = 0;
	face->velocity[2] = o->arm_m * sin(face->angle) * turn_rate;
}

static double seconds(const struct approach *approach, uint64_t now_ns)
{
	return approach->began_ns ? (double)(now_ns - approach->began_ns) / 1e9 : 0;
}

void approach_place(struct approach *approach, const struct approach_settings *settings)
{
	struct random random;
	struct sight face;
	double camera[3];

	memset(approach, 0, sizeof(*approach));
	approach->settings = *settings;
	random_seed(&random, settings->seed, 0);
	approach->swing_phase = M_PI * drawn(&random);
	swing(approach, 0, &face);
	camera[0] = face.position[0] + settings->offset_m * drawn(&random);
	camera[1] = face.position[1] + settings->offset_m * drawn(&random);
	camera[2] = face.position[2] - settings->start_m;
	for (int one = 0; one < 3; one++)
		approach->chaser.position[axis_of[one]] = camera[one];
}

void approach_begin(struct approach *approach, uint64_t now_ns)
{
	approach->began_ns = approach->at_ns = now_ns;
}

static void see(const struct approach *approach, const struct relative *chaser, uint64_t now_ns, struct sight *sight)
{
	swing(approach, seconds(approach, now_ns), sight);
	for (int one = 0; one < 3; one++) {
		sight->position[one] -= chaser->position[axis_of[one]];
		sight->velocity[one] = approach->began_ns ? sight->velocity[one] - chaser->velocity[axis_of[one]] : 0;
	}
}

static struct relative coasted(const struct approach *approach, uint64_t now_ns)
{
	if (!approach->began_ns)
		return approach->chaser;
	return cw_coast(&approach->chaser, approach->settings.orbit_rate, (double)(now_ns - approach->at_ns) / 1e9);
}

void approach_see(const struct approach *approach, uint64_t now_ns, struct sight *sight)
{
	const struct relative chaser = coasted(approach, now_ns);

	see(approach, &chaser, now_ns, sight);
}

void approach_pose(struct approach *approach, const struct estimate *pose, uint64_t now_ns)
{
	struct estimate *to;

	if (approach->count == POSES_MOST) { /* the oldest is of no use any more */
		approach->first = (approach->first + 1) % POSES_MOST;
		approach->count--;
	}
	to = approach->waiting + (approach->first + approach->count++) % POSES_MOST;
	*to = *pose;
	to->usable_ns = now_ns + approach->settings.delay_ns;
}

/* When the two touched, between the last control period, when they did not, and now, when they do. */
static void touch(struct approach *approach, uint64_t now_ns)
{
	uint64_t before = approach->at_ns, after = now_ns;
	struct sight sight;

	while (after - before > 1000) {
		const uint64_t middle = before + (after - before) / 2;

		approach_see(approach, middle, &sight);
		*(sight.position[2] > approach->settings.latch_m ? &before : &after) = middle;
	}
	approach_see(approach, after, &sight);
	approach->docked = true;
	approach->contact_s = seconds(approach, after);
	approach->lateral_m = hypot(sight.position[0], sight.position[1]);
	approach->drift = hypot(sight.velocity[0], sight.velocity[1]);
	approach->closing = -sight.velocity[2];
	approach->angle_rad = fabs(sight.angle);
}

double approach_last_rms(const struct approach *approach)
{
	const uint32_t count = approach->periods < LAST ? approach->periods : LAST;
	double sum = 0;

	for (uint32_t one = 0; one < count; one++)
		sum += approach->last_m[one] * approach->last_m[one];
	return count ? sqrt(sum / count) : 0;
}

/* What the thrusters give in this period for a wanted acceleration: on for whole quanta, no longer than the period. */
static double impulse(struct approach *approach, double acceleration)
{
	const struct approach_settings *o = &approach->settings;
	const double most = floor((double)o->period_ns / (double)o->quantum_ns);
	const double wanted = acceleration / o->thrust * (double)o->period_ns / (double)o->quantum_ns;
	const double quanta = fmax(-most, fmin(most, nearbyint(wanted)));
	const double fired_s = quanta * (double)o->quantum_ns / 1e9;

	approach->thrust_s += fabs(fired_s);
	return o->thrust * fired_s;
}

bool approach_control(struct approach *approach, uint64_t now_ns)
{
	const struct approach_settings *o = &approach->settings;
	const struct estimate *pose = &approach->now;
	double stiffness = o->bandwidth * o->bandwidth, drag = 2 * o->damping * o->bandwidth, closing;
	struct sight sight;

	while (approach->count && approach->waiting[approach->first].usable_ns <= now_ns) {
		approach->now = approach->waiting[approach->first];
		approach->first = (approach->first + 1) % POSES_MOST;
		approach->count--;
		approach->known = true;
	}
	if (!approach->known || !approach->began_ns)
		return approach->known;
	approach_see(approach, now_ns, &sight);
	if (sight.position[2] <= o->latch_m) {
		touch(approach, now_ns);
		return true;
	}
	approach->last_m[approach->periods++ % LAST] = hypot(sight.position[0], sight.position[1]);
	approach->chaser = coasted(approach, now_ns);
	approach->at_ns = now_ns;
	approach->pose_age_ns = now_ns - pose->frame_ns;
	for (int one = 0; one < 2; one++)
		approach->chaser.velocity[axis_of[one]] += impulse(approach, stiffness * pose->position[one] +
										     drag * pose->velocity[one]);
	closing = o->closing_least + o->closing_rate * (pose->position[2] - o->latch_m);
	closing = fmax(o->closing_least, fmin(o->closing_most, closing));
	approach->chaser.velocity[axis_of[2]] += impulse(approach, drag * (closing + pose->velocity[2]));
	return true;
}
