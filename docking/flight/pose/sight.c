// SPDX-License-Identifier: MIT
/* Which of the body's faces are in the picture. One that is seen almost edge-on is a narrow strip, and may be too dim to
 * count as signal. Then the target ends at its far edge or at its near edge, and mistaking them would tilt the pose. And
 * before a bright wall such a strip is dark: it takes from the wall's light what looks like more of the target.
 */
#include "state.h"

#define BRIGHT 1.3 /* times the light that counts: of a face that is surely seen */
#define FAINT 0.6 /* of a usual target's light, where nobody says how much there is */
#define HIDES 0.2 /* pixels: a narrower face is not seen */
#define WIDE 6 /* pixels */
#define SURE 3 /* deviations */

/* What is known of the pose before the outline: by the prediction and this frame's pixels; and after a coarse round the
 * body's picture is within a pixel of its place.
 */
static void known_before(const struct pose *pose, const struct placed *at, const double weight[36],
			 const struct normal *normal, double cov[36])
{
	double pixels = pose->camera.fx / norm3(at->p), turned = pixels * pose->set.lever;

	for (int i = 0; i < 6; i++) {
		for (int j = 0; j <= i; j++)
			cov[6 * i + j] = cov[6 * j + i] = normal->h[6 * i + j] + weight[6 * i + j];
		cov[7 * i] += i < 3 ? pixels * pixels : turned * turned;
	}
	/* What cannot be inverted, the fit gives up later. */
	invert6(cov, cov);
	for (int i = 0; i < 36; i++)
		cov[i] += pose->systematic[i];
}

void sight_of(const struct pose *pose, const struct placed *at, const double weight[36], const struct normal *normal,
	      struct sight out[3][2])
{
	const struct pose_part *body = pose->model.part;
	double light = normal->light > 0 ? normal->light / normal->samples : FAINT * pose->set.amplitude_at_1m;
	double eye[3], cov[36];

	known_before(pose, at, weight, normal, cov);
	rotate_back(at->r, at->p, eye);
	for (int k = 0; k < 3; k++)
		eye[k] = -eye[k] - body->centre[k];
	for (int axis = 0; axis < 3; axis++) {
		int a = (axis + 1) % 3, b = (axis + 2) % 3;
		double least = smaller(body->half[a], body->half[b]), row[6], shift[6], variance = 0;

		/* Of the eye's height over a face, by the pose. */
		for (int k = 0; k < 3; k++)
			row[k] = at->r[3 * k + axis];
		cross3(row, at->p, row + 3);
		multiply6_vector(cov, row, shift);
		for (int k = 0; k < 6; k++)
			variance += row[k] * shift[k];
		for (int side = 0; side < 2; side++) {
			struct sight *sight = &out[axis][side];
			double height = (side ? eye[axis] : -eye[axis]) - body->half[axis];
			double distance2 = eye[a] * eye[a] + eye[b] * eye[b] + height * height;
			double width = 2 * least * pose->camera.fx / distance2;
			double dim = light * height / (sqrt(distance2) * distance2 * pose->set.least_amplitude);

			sight->strip = larger(0, width * (height + SURE * sqrt(larger(0, variance))));
			width *= height;
			sight->seen = width < HIDES ? HIDDEN : dim > BRIGHT && width > WIDE ? SEEN : UNSURE;
		}
	}
}
