// SPDX-License-Identifier: GPL-2.0
/* The calibration and the choice of decoder, from the module's parameters, and the slices in which vectors are used. */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "decoder.h"

#if defined(CONFIG_X86_64)
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <asm/simd.h>
#define vectors_begin() kernel_fpu_begin() /* which sets the rounding that the decoder needs */
#define vectors_end() kernel_fpu_end()
#elif defined(CONFIG_ARM64)
#include <asm/neon.h>
#include <asm/simd.h>
#include <asm/sysreg.h>
#define vectors_end() kernel_neon_end()

/*
 * Sets the rounding that the decoder needs: the control register still holds what the last program set. Programs get
 * their own setting back with the rest of their registers.
 */
static void vectors_begin(void)
{
	kernel_neon_begin();
	if (read_sysreg(fpcr))
		write_sysreg(0, fpcr); /* to nearest, as the decoder needs */
}
#else
#define vectors_begin()
#define vectors_end()
#define may_use_simd() false
#endif

static bool depth;
module_param(depth, bool, 0444);
MODULE_PARM_DESC(depth, "ranges along the optical axis instead of along each pixel's ray");
static int confidence = DS325_CONFIDENCE_LEAST;
module_param(confidence, int, 0444);
MODULE_PARM_DESC(confidence, "amplitude in counts below which a pixel is not valid");
static unsigned int modulation_hz = DS325_MODULATION_HZ;
module_param(modulation_hz, uint, 0444);
MODULE_PARM_DESC(modulation_hz, "modulation frequency");
static int offset_um, drift_um_per_k, temperature_mc = 25000;
module_param(offset_um, int, 0444);
MODULE_PARM_DESC(offset_um, "what the camera reads too much at 25 degrees Celsius");
module_param(drift_um_per_k, int, 0444);
MODULE_PARM_DESC(drift_um_per_k, "and its drift with the temperature");
module_param(temperature_mc, int, 0444);
MODULE_PARM_DESC(temperature_mc, "the camera's temperature, thousandths of a degree Celsius");
static int set_followed(const char *text, const struct kernel_param *parameter);
static int get_followed(char *text, const struct kernel_param *parameter);
static const struct kernel_param_ops followed_ops = { .set = set_followed, .get = get_followed };
module_param_cb(calibration, &followed_ops, NULL, 0644);
MODULE_PARM_DESC(calibration, "confidence, offset_um, drift_um_per_k and temperature_mc at once; may be written later");
static int k1_ppm, k2_ppm;
module_param(k1_ppm, int, 0444);
MODULE_PARM_DESC(k1_ppm, "radial distortion, r^2, in millionths");
module_param(k2_ppm, int, 0444);
MODULE_PARM_DESC(k2_ppm, "radial distortion, r^4, in millionths");
static char *decode = "auto";
module_param(decode, charp, 0444);
MODULE_PARM_DESC(decode, "auto: the fastest here; scalar, sse2, avx2, neon");

static struct ds325_decoder *decoder;
static ds325_blocks *vectors; /* or NULL */

const struct ds325_decoder *ds325_node_decoder(void)
{
	return decoder;
}
EXPORT_SYMBOL_GPL(ds325_node_decoder);

static void decode_slices(const struct ds325_decoder *by, const u8 *from, size_t first, size_t count, u16 *ranges,
			  bool may_sleep)
{
	while (count) {
		size_t slice = min_t(size_t, count, DS325_SLICE_BLOCKS);

		if (vectors && may_use_simd()) {
			vectors_begin();
			vectors(by, from, first, slice, ranges);
			vectors_end();
		} else {
			ds325_blocks_scalar(by, from, first, slice, ranges);
		}
		from += slice * DS325_BLOCK_BYTES;
		ranges += slice * DS325_BLOCK;
		first += slice;
		count -= slice;
		if (may_sleep)
			cond_resched(); /* the chance to run others, on kernels without full preemption */
	}
}

void ds325_node_blocks(const struct ds325_decoder *by, const void *raw, size_t first, size_t count, uint16_t *ranges)
{
	decode_slices(by, raw, first, count, ranges, true);
}
EXPORT_SYMBOL_GPL(ds325_node_blocks);

void ds325_node_blocks_atomic(const struct ds325_decoder *by, const void *raw, size_t first, size_t count,
			      uint16_t *ranges)
{
	decode_slices(by, raw, first, count, ranges, false);
}
EXPORT_SYMBOL_GPL(ds325_node_blocks_atomic);

/* Chooses a decoder by its name; false if this processor cannot run it. */
static bool choose(const char *name)
{
	bool any = !strcmp(name, "auto");

	vectors = NULL;
#if defined(CONFIG_X86_64)
	if (any || !strcmp(name, "sse2"))
		vectors = ds325_blocks_sse2;
	if ((any || !strcmp(name, "avx2")) && boot_cpu_has(X86_FEATURE_AVX2) &&
	    cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL))
		vectors = ds325_blocks_avx2;
#elif defined(CONFIG_ARM64)
	if ((any || !strcmp(name, "neon")) && cpu_has_neon())
		vectors = ds325_blocks_neon;
#endif
	return any || vectors || !strcmp(name, "scalar");
}

bool ds325_decoder_depth(void)
{
	return depth;
}

/* A decoder of the parameters as they are; NULL, and why is in the kernel's log. */
static struct ds325_decoder *made(void)
{
	struct ds325_calibration calibration = DS325_CALIBRATION_DEFAULT;
	struct ds325_decoder *fresh = vzalloc(sizeof(*fresh));
	const char *wrong = "no memory for a decoder";

	calibration.geometry = depth ? DS325_DEPTH : DS325_RADIAL;
	calibration.confidence = confidence;
	calibration.modulation_hz = modulation_hz;
	calibration.offset_um = offset_um;
	calibration.drift_um_per_k = drift_um_per_k;
	calibration.temperature_mc = temperature_mc;
	calibration.k1_ppm = k1_ppm;
	calibration.k2_ppm = k2_ppm;
	if (fresh)
		wrong = ds325_decoder_init(fresh, &calibration);
	if (!wrong)
		return fresh;
	pr_err("ds325-ring: %s\n", wrong);
	vfree(fresh);
	return NULL;
}

static int *const followed[] = { &confidence, &offset_um, &drift_um_per_k, &temperature_mc };

/*
 * What may change while frames come, all at once, since one value may be possible with another only: all that follows
 * from it are three numbers, which the decoder reads anew for every slice. So the frame that is being decoded may have
 * both. Calls come one at a time (kernel_param_lock).
 */
static int set_followed(const char *text, const struct kernel_param *parameter)
{
	int before[ARRAY_SIZE(followed)], now[ARRAY_SIZE(followed)];
	struct ds325_decoder *fresh;
	char copy[64], *left = copy;

	if (strscpy(copy, text, sizeof(copy)) < 0)
		return -EINVAL;
	for (size_t one = 0; one < ARRAY_SIZE(now); one++) {
		const char *word = strsep(&left, " ");

		if (!word || kstrtoint(word, 10, &now[one]))
			return -EINVAL;
	}
	if (left)
		return -EINVAL;
	for (size_t one = 0; one < ARRAY_SIZE(now); one++) {
		before[one] = *followed[one];
		*followed[one] = now[one];
	}
	if (!decoder) /* being loaded: ds325_decoder_make() looks at them; or unloaded */
		return 0;
	fresh = made();
	if (!fresh) {
		for (size_t one = 0; one < ARRAY_SIZE(now); one++)
			*followed[one] = before[one];
		return -EINVAL;
	}
	WRITE_ONCE(decoder->least_power, fresh->least_power);
	WRITE_ONCE(decoder->dark, fresh->dark);
	WRITE_ONCE(decoder->offset, fresh->offset);
	vfree(fresh);
	return 0;
}

static int get_followed(char *text, const struct kernel_param *parameter)
{
	return sysfs_emit(text, "%d %d %d %d\n", confidence, offset_um, drift_um_per_k, temperature_mc);
}

int ds325_decoder_make(void)
{
	if (!choose(decode)) {
		pr_err("ds325-ring: decode=%s: auto and scalar are there, and what vectors the processor has\n",
		       decode);
		return -EINVAL;
	}
	decoder = made();
	return decoder ? 0 : -EINVAL;
}

/* Parameters may be written for a moment more. */
void ds325_decoder_remove(void)
{
	struct ds325_decoder *last = decoder;

	kernel_param_lock(THIS_MODULE);
	decoder = NULL;
	kernel_param_unlock(THIS_MODULE);
	vfree(last);
}
