// SPDX-License-Identifier: MIT
/* The body's outline: where, along a line of pixels across it, the target ends. A frontal view gets its sideways offset
 * and its roll from the outline.
 */
#include "state.h"

#include <string.h>

#define SAMPLES 14
#define STEEP 7.5 /* pixels: an edge that leaves the rows by more cuts each pixel in more than one place */
#define FEW 8 /* in rounds that only have to get near */
#define ALONE 3 /* of so many lines across an edge not one may cross it alone: what is seen so seldom is not the edge */
#define LEAST_CROSSINGS 3 /* where fewer lie in the picture, another edge that ends there looks the same */
#define PRIOR 6
#define SHADE 0.004 /* pixels: how much more the means of true edges scatter than their crossings do */
#define UNSEEN 0.2 /* of the power of noise: how far it may differ from what is expected, and hide light */
/* Of dim light beyond the edge, what it adds on average, and the deviation of that: nearer than 0.75 m behind the edge it
 * adds, farther away it takes away.
 */
#define CLOSE 0.6
#define CLOSE_BY 0.8
#define UNLIKE 0.5 /* of what such light may do: by how much that differs from edge to edge */
#define IN_STEP 2 /* times what such light may do: by how much its pixels without a range turn an edge along the rows */
#define LIT 0.012 /* pixels: where light comes from beyond the edge, since how much does is not known exactly */
#define MOST_GRAIN 0.15 /* pixels: an edge that the sun makes noisier is not one */
#define MOST_STRIP 0.1 /* pixels: an edge that a dark strip beside it may move farther is not one */
#define PIXEL 0.29 /* 1 / sqrt(12): deviation of a place that is known to the pixel */
#define TILT 1.6 /* times an edge's shared error in place: in its ends' places against each other */
#define UNLIT 0.2 /* pixels: how far edges differ where nothing tells of their light */
#define WIDER 0.33
#define WIDER_BY 0.15

/* The noise of an edge's crossings, from the crossings themselves: whatever the pose's error, they lie on a line, and
 * their distance from it is noise. It differs by edge: an edge along a row cuts all its pixels alike, an edge across
 * rows is averaged within each. `pooled`, the mean of all edges, counts as PRIOR further crossings.
 */
static double scatter(const double error[SAMPLES], const double place[SAMPLES], int count, double pooled)
{
	double mean = 0, middle = 0, slope = 0, spread = 0, sum = 0, most = 9 * pooled * pooled;

	for (int i = 0; i < count; i++) {
		mean += error[i] / count;
		middle += place[i] / count;
	}
	for (int i = 0; i < count; i++) {
		slope += (place[i] - middle) * (error[i] - mean);
		spread += (place[i] - middle) * (place[i] - middle);
	}
	slope = spread > 0 ? slope / spread : 0;
	for (int i = 0; i < count; i++) {
		double off = error[i] - mean - slope * (place[i] - middle);

		sum += off * off < most ? off * off : most;
	}
	return sqrt((sum + PRIOR * pooled * pooled) / (count > 2 ? count - 2 + PRIOR : PRIOR));
}

/* Light beyond an edge that is too little to count, as a part of the most that it may be; and how much of it adds to the
 * target's, or takes away: all but what lies across the target's.
 */
static double unseen(const struct end ends[SAMPLES], int count, double least, double *adds)
{
	double power = 0, weight = 1e-9, across = 0;
	int dark = 0;

	for (int i = 0; i < count; i++) {
		if (ends[i].lit)
			continue;
		power += ends[i].power;
		weight += ends[i].dim * ends[i].dim;
		across += ends[i].dim * ends[i].across;
		dark++;
	}
	across /= weight;
	power = larger(0, power / (larger(1, dark) * least * least));
	*adds = sqrt(larger(0, power - across * across));
	return sqrt(power);
}

/* One edge, from corner to corner (target coordinates). */
static void measure_edge(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
			 const double corners[2][3], const struct face *face, double light, int reach, double slack,
			 struct normal *normal, struct offset *unknown)
{
	double from[3], along[3], out[3], noise = edge_noise(pose, frame), grain = 0, strip = 0, unlike = 0;
	double error[SAMPLES], place[SAMPLES], row[SAMPLES][6], first[2] = { 0 }, last[2] = { 0 };
	struct end ends[SAMPLES];
	/* Where along the edge: at random distances, since even ones might fall in step with the pixels. */
	uint32_t random = pose->frames * 2654435769u + (uint32_t)normal->biases * 2246822519u;
	struct bias *bias = normal_bias(normal, 0), *tilt = normal_bias(normal, 0);
	int looked = 0, count = 0, lit = 0;

	rotate(at->r, corners[0], from);
	rotate(at->r, corners[1], along);
	rotate(at->r, pose->model.part[0].centre, out);
	for (int k = 0; k < 3; k++) {
		along[k] -= from[k];
		out[k] = from[k] + 0.5 * along[k] - out[k];
	}
	int samples = slack > 0 ? FEW : SAMPLES;

	for (int i = 0; i < samples; i++) {
		double arm[3];
		struct end *end = ends + count;
		struct line line;

		random = random * 1664525u + 1013904223u;
		place[count] = (i + random * 0x1p-32) / samples;
		for (int k = 0; k < 3; k++)
			arm[k] = from[k] + place[count] * along[k];
		if (!line_across(pose, at, arm, along, out, reach, &line))
			continue;
		looked++;
		enum ends seen = crossing(pose, frame, &line, face, light, reach, slack, end);

		normal->looked += seen != NO_END;
		normal->elsewhere += seen == ELSEWHERE;
		if (seen != END)
			continue;
		if (end->strip * face->strip > MOST_STRIP)
			continue;
		strip += end->strip * face->strip;
		last[0] = line.x + line.dx * line.predicted;
		last[1] = line.y + line.dy * line.predicted;
		if (count == 0)
			memcpy(first, last, sizeof(first));
		lit += end->lit;
		grain += end->grain * line.slant * line.slant;
		error[count] = (end->at - line.predicted) * line.slant - (frame->amplitude ? 0 : WIDER);
		memcpy(row[count++], line.row, sizeof(line.row));
	}
	if (count < LEAST_CROSSINGS || ALONE * count < looked || grain > MOST_GRAIN * MOST_GRAIN * count)
		return;
	double least = pose->set.least_amplitude, adds, beyond = unseen(ends, count, least, &adds);
	double doubt = UNSEEN * dark_power(pose) / (least * least);

	for (int i = 0; i < count; i++)
		error[i] -= CLOSE * adds * ends[i].dim - (1 - CLOSE) * beyond * ends[i].hidden;
	adds = sqrt(CLOSE_BY * CLOSE_BY * adds * adds + doubt);
	beyond = sqrt(CLOSE_BY * CLOSE_BY * beyond * beyond + doubt);
	/* How far the edge leaves the rows, the columns or the diagonals. */
	double wide = fabs(last[0] - first[0]), high = fabs(last[1] - first[1]);
	double away = smaller(smaller(wide, high), fabs(wide - high));
	double half = smaller(fabs(wide - 2 * high), fabs(high - 2 * wide));

	if (frame->amplitude)
		noise /= sqrt(1 + away / STEEP);
	noise = sqrt(noise * noise + grain / count);
	double own = scatter(error, place, count, noise), gate = slack > 0 ? 3 : 3 * noise;

	if (count > 2) {
		normal->scatter += own * own / (noise * noise) * count;
		normal->outline += count;
	}
	for (int i = 0; i < count; i++) {
		double z = fabs(error[i]) / gate;

		/* As with pixels: full weight up to `gate`, none from 5/3 of it on. */
		if (z > 5.0 / 3) {
			normal->elsewhere++;
			continue;
		}
		double weight = (z < 1 ? 1 : (5 - 3 * z) / 2) / (own * own);

		normal->crossings++;
		normal_add(normal, row[i], error[i], weight);
		bias_measure(bias, row[i], error[i], weight);
		bias_add(tilt, row[i], weight * (place[i] - 0.5));
		double moved = ends[i].dim * adds + ends[i].hidden * beyond;

		offset_add(unknown, row[i], frame->amplitude ? moved : 1, error[i], weight);
		unlike += moved;
	}
	/* An edge along the rows, or diagonal, cuts all its pixels alike, so all have the same error; when it leaves that
	 * line by half a pixel or more, the error averages away. What does not average away is that the face's light
	 * changes towards its edge. While it leaves it by a few pixels, the error turns it, too; where it rises by one
	 * in two, half as much.
	 */
	double parts = frame->amplitude ? 4 : 1, span = parts * away;
	double place_error = frame->amplitude ? pose->set.edge_bias : PIXEL, shared = place_error / (1 + span * span);

	bias->sigma = shared + (frame->amplitude ? SHADE + (LIT * lit + strip + UNLIKE * unlike) / count : UNLIT);
	tilt->sigma = TILT * place_error * (1 / larger(1, span) + 0.5 / larger(1, parts * half)) +
		      TILT * (UNLIKE + IN_STEP / larger(1, away)) * unlike / count;
}

void outline_measure(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
		     const double weight[36], int reach, double slack, struct normal *normal)
{
	const struct pose_part *body = pose->model.part;
	/* One more unknown of the frame: how much dim light adds or takes away; without amplitudes, by how much the target
	 * seems wider on all sides, WIDER pixels give or take WIDER_BY, since every pixel counts that shows some of it.
	 */
	struct offset unknown = { 0 };
	double light = normal->light > 0 ? normal->light / normal->samples : 0;
	struct sight sights[3][2];

	sight_of(pose, at, weight, normal, sights);
	/* An edge is on the outline where one of its two faces is seen and the other is not. */
	for (int axis = 0; axis < 3; axis++) {
		int a = (axis + 1) % 3, b = (axis + 2) % 3;

		for (int side = 0; side < 4; side++) {
			double sa = side & 1 ? 1 : -1, sb = side & 2 ? 1 : -1;
			const struct sight *of_a = &sights[a][side & 1], *of_b = &sights[b][side >> 1];

			if (of_a->seen == of_b->seen || of_a->seen == UNSURE || of_b->seen == UNSURE)
				continue;
			int inner = of_a->seen == SEEN ? a : b;
			double corners[2][3], outwards[3] = { 0 }, corner[3];
			struct face face = { .at = at,
					     .axis = inner,
					     .strip = slack > 0 ? 0 : (inner == a ? of_b : of_a)->strip };

			for (int end = 0; end < 2; end++) {
				corners[end][axis] = body->centre[axis] + (end ? body->half[axis] : -body->half[axis]);
				corners[end][a] = body->centre[a] + sa * body->half[a];
				corners[end][b] = body->centre[b] + sb * body->half[b];
			}
			outwards[inner] = inner == a ? sa : sb;
			rotate(at->r, outwards, face.normal);
			rotate(at->r, corners[0], corner);
			for (int k = 0; k < 3; k++)
				corner[k] += at->p[k];
			face.level = dot3(face.normal, corner);
			measure_edge(pose, frame, at, (const double (*)[3])corners, &face, light, reach, slack, normal,
				     &unknown);
		}
	}
	/* The light is alike in all frames, so what is left of it does not average away. */
	if (frame->amplitude)
		bias_add(normal_bias(normal, 1), unknown.row, 1 / (1 + unknown.weight));
	offset_solve(&unknown, frame->amplitude ? 1 : WIDER_BY, normal);
}
