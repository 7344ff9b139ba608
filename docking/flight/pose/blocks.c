// SPDX-License-Identifier: MIT
#include "find.h"

#define LEAST_BLOCKS 12
#define MOST_PIECES 64

/* The mean of the four pixels in the middle if they agree; a block on an edge has no range. */
static float block_range(const struct pose *pose, const struct pose_frame *frame, int left, int top, uint32_t most_mm)
{
	const uint16_t *row = frame->range_mm + (long)(top + 1) * pose->camera.width + left + 1;
	const uint32_t mm[4] = { row[0], row[1], row[pose->camera.width], row[pose->camera.width + 1] };
	uint32_t sum = 0, low = UINT32_MAX, high = 0, count = 0;

	for (int k = 0; k < 4; k++) {
		bool there = mm[k] - 1 < most_mm; /* 0 wraps around */

		sum += there ? mm[k] : 0;
		low = there && mm[k] < low ? mm[k] : low;
		high = there && mm[k] > high ? mm[k] : high;
		count += there;
	}
	if (count < 3)
		return 0;
	double mean = 0.001 * sum / count;

	return 0.001 * (high - low) < 0.02 + 6 * usual_noise(pose, mean) ? (float)mean : 0;
}

/* Labels the piece that a block belongs to; gives its number of blocks and the sum of their ranges. */
static int fill(struct pose *pose, int wide, int high, int from, int16_t label, double *sum)
{
	struct block *blocks = pose->blocks;
	int depth = 0, count = 0;

	pose->stack[depth++] = from;
	blocks[from].label = label;
	while (depth > 0) {
		int at = pose->stack[--depth];
		const struct block *block = blocks + at;
		double most = 0.01 + 3 * usual_noise(pose, block->range);
		const int next[4] = { block->x > 0 ? at - 1 : at, block->x < wide - 1 ? at + 1 : at,
				      block->y > 0 ? at - wide : at, block->y < high - 1 ? at + wide : at };

		count++;
		*sum += block->range;
		for (int k = 0; k < 4; k++) {
			struct block *other = blocks + next[k];

			/* Each block is pushed once: the stack is as long as there are blocks. */
			if (other->label || other->range == 0 || fabsf(other->range - block->range) > most)
				continue;
			other->label = label;
			pose->stack[depth++] = next[k];
		}
	}
	return count;
}

int blocks_label(struct pose *pose, const struct pose_frame *frame, int16_t *labels, int most)
{
	int wide = pose->camera.width / BLOCK, high = pose->camera.height / BLOCK, pieces = 0, kept = 0;
	double means[MOST_PIECES], most_mm = 1000 * pose->set.most_range;

	for (int y = 0; y < high; y++) {
		for (int x = 0; x < wide; x++) {
			struct block *block = pose->blocks + y * wide + x;

			block->range = block_range(pose, frame, BLOCK * x, BLOCK * y,
						   (uint32_t)(most_mm < POSE_RANGE_LAST ? most_mm : POSE_RANGE_LAST));
			block->label = 0;
			block->x = (int16_t)x;
			block->y = (int16_t)y;
		}
	}
	for (int at = 0; at < wide * high && pieces < MOST_PIECES; at++) {
		double sum = 0;

		if (pose->blocks[at].label || pose->blocks[at].range == 0)
			continue;
		int count = fill(pose, wide, high, at, (int16_t)(at % 32000 + 1), &sum);

		if (count < LEAST_BLOCKS)
			continue;
		/* Inserted in order: nearest first. */
		double mean = sum / count;
		int place = kept < most ? kept++ : most - 1;

		if (place == most - 1 && kept == most && pieces >= most && means[place] <= mean)
			continue;
		for (; place > 0 && means[place - 1] > mean; place--) {
			means[place] = means[place - 1];
			labels[place] = labels[place - 1];
		}
		means[place] = mean;
		labels[place] = pose->blocks[at].label;
		pieces++;
	}
	return kept;
}

void blocks_points(const struct pose *pose, int16_t label, struct face_points *out)
{
	int wide = pose->camera.width / BLOCK, high = pose->camera.height / BLOCK, count = 0, step, seen = 0;

	for (int at = 0; at < wide * high; at++)
		count += pose->blocks[at].label == label;
	step = (count + MOST_POINTS - 1) / MOST_POINTS;
	out->points = 0;
	for (int at = 0; at < wide * high; at++) {
		const struct block *block = pose->blocks + at;

		if (block->label != label)
			continue;
		bool border = block->x == 0 || block->y == 0 || block->x == wide - 1 || block->y == high - 1;

		/* The blocks at the border decide whether a side is seen whole. */
		if (seen++ % step && !(border && seen % 2))
			continue;
		if (out->points == MOST_POINTS)
			break;
		double ray[3];

		camera_ray(pose, pixel_of(pose, BLOCK * block->x + BLOCK / 2, BLOCK * block->y + BLOCK / 2), ray);
		for (int k = 0; k < 3; k++)
			out->point[out->points][k] = block->range * ray[k];
		out->at_border[out->points++] = border;
	}
}
