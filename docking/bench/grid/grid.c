// SPDX-License-Identifier: MIT
/* Flights on standard input, frames made and estimated here, a line of figures a frame on standard output:
 * flight, frame, status, unobserved, errors in mm and degrees, squared Mahalanobis distance, largest error of an axis in
 * its deviations, samples, crossings, deviations in mm and degrees. With --planes, the decoded frames themselves.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ds325/decode.h"
#include "flight/pose/algebra.h"
#include "flight/pose/pose.h"
#include "grid_scene.h"

static void judge(const struct pose_result *said, const struct truth *truth, double error[6], double *distance2,
		  double *worst)
{
	double is[9], was[9], turn[9], information[36], weighted[6];

	for (int k = 0; k < 3; k++)
		error[k] = truth->position[k] - said->position[k];
	rotation_from_quaternion(truth->orientation, is);
	rotation_from_quaternion(said->orientation, was);
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			turn[3 * i + j] = dot3(is + 3 * i, was + 3 * j);
	vector_from_rotation(turn, error + 3);
	*distance2 = 1e9;
	if (invert6(said->covariance, information)) {
		multiply6_vector(information, error, weighted);
		*distance2 = 0;
		for (int k = 0; k < 6; k++)
			*distance2 += error[k] * weighted[k];
	}
	*worst = 0;
	for (int k = 0; k < 6; k++)
		*worst = fmax(*worst, fabs(error[k]) / sqrt(said->covariance[7 * k]));
}

static void report(int flight, int number, const struct pose_result *said, const struct truth *truth)
{
	double error[6] = { 0 }, distance2 = 0, worst = 0;
	const double *c = said->covariance;

	if (said->status != POSE_NOT_FOUND)
		judge(said, truth, error, &distance2, &worst);
	printf("%d %d %d %u %.4f %.5f %.4g %.3f %d %d %.4f %.5f", flight, number, said->status, said->unobserved,
	       1000 * norm3(error), 180 / M_PI * norm3(error + 3), distance2, worst, said->samples, said->crossings,
	       1000 * sqrt(c[0] + c[7] + c[14]), 180 / M_PI * sqrt(c[21] + c[28] + c[35]));
	for (int k = 0; k < 6; k++)
		printf(" %.3g", error[k] / sqrt(fmax(1e-30, c[7 * k])));
	printf("\n");
}

int main(int argc, char **argv)
{
	static uint8_t raw[DS325_FRAME_BYTES];
	static uint16_t ranges[DS325_PIXELS], phases[DS325_PIXELS], amplitudes[DS325_PIXELS];
	static struct ds325_decoder decoder;
	const struct ds325_planes planes = { ranges, phases, amplitudes };
	const struct ds325_calibration calibration = DS325_CALIBRATION_DEFAULT;
	bool write = argc > 1 && strcmp(argv[1], "--planes") == 0,
	     only = argc > 1 && strcmp(argv[1], "--ranges-only") == 0;
	struct pose_camera camera;
	struct pose_model model;
	struct pose_settings settings;
	struct flight *flight = flight_new();
	double step_s;
	int frames;

	pose_default_camera(&camera);
	pose_default_model(&model);
	pose_default_settings(&settings);
	size_t bytes = pose_workspace_bytes(&camera);
	void *workspace = malloc(bytes);

	if (!flight || !workspace || ds325_decoder_init(&decoder, &calibration))
		return 1;
	for (int n = 0; flight_read(flight, stdin, &frames, &step_s); n++) {
		struct pose *pose = pose_init(&model, &camera, &settings, workspace, bytes);

		for (int number = 0; number < frames; number++) {
			struct truth truth;
			struct pose_result result;
			struct pose_frame frame = { ranges, only ? NULL : amplitudes,
						    (uint64_t)(1e9 * number * step_s) };

			if (!flight_frame(flight, number, raw, &truth))
				continue;
			ds325_method("simd")->planes(&decoder, raw, 0, DS325_PIXELS / DS325_BLOCK, &planes);
			if (write) {
				if (fwrite(ranges, sizeof(ranges), 1, stdout) +
					    fwrite(amplitudes, sizeof(amplitudes), 1, stdout) !=
				    2)
					return 1;
				continue;
			}
			pose_update(pose, &frame, &result);
			report(n, number, &result, &truth);
		}
	}
	free(flight);
	free(workspace);
	return fflush(stdout) != 0;
}
