/* SPDX-License-Identifier: MIT */
/* What uPlot does not draw itself: limits, overflows, percentiles. Canvas pixels throughout. */

const OUT = "#d0402a1f"; // the tint of what no sample should reach

/* Runs some drawing inside of the axes, in screen pixels' widths. */
function painting(u, paint) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  paint(ctx, uPlot.pxRatio);
  ctx.restore();
}

function paintLimits(u, limits, { areas }) {
  const { bbox } = u;
  painting(u, (ctx, ratio) => {
    for (const { value, upper } of limits) {
      const x = u.valToPos(value, "x", true);
      if (areas) {
        ctx.fillStyle = OUT;
        ctx.fillRect(upper ? x : bbox.left - 1, bbox.top, upper ? bbox.left + bbox.width - x + 1 : x - bbox.left + 1, bbox.height);
      } else {
        stroke(ctx, { colour: ink(), width: 1.5 * ratio, dashes: [3 * ratio, 3 * ratio] }, [[x, bbox.top], [x, bbox.top + bbox.height]]);
      }
    }
  });
}

/* Samples above the histogram's end: an arrowhead where it ends. */
function paintOverflow(u, group, height) {
  if (!group.overflow || !group.overflow_from) return;
  painting(u, (ctx, ratio) => arrowhead(ctx, u.valToPos(group.overflow_from, "x", true), u.valToPos(height, "y", true), 6 * ratio, group.style.colour));
}

/* Samples whose timeline the report shows: a mark on the axis. */
function paintExplained(u, groups) {
  painting(u, (ctx, ratio) => {
    for (const { explained, style } of groups) {
      for (const [value] of explained) disc(ctx, u.valToPos(value, "x", true), u.bbox.top + u.bbox.height - 5 * ratio, 4 * ratio, style.colour);
    }
  });
}

function paintPercentile(u, { value, interval, at_least, y, group }) {
  const { bbox } = u;
  const [left, right] = [bbox.left, bbox.left + bbox.width];
  const { colour, dashes } = group.style;
  painting(u, (ctx, ratio) => {
    const [x, at] = [u.valToPos(value, "x", true), u.valToPos(y, "y", true)];
    if (interval) {
      const [low, high] = interval.map((end, i) => (end === null ? [left, right][i] : u.valToPos(end, "x", true)));
      const width = 2 * ratio;
      stroke(ctx, { colour, width, dashes: dashes.map((length) => length * width) }, [[low, at], [high, at]]);
      [low, high].forEach((end, i) => {
        if (interval[i] !== null) stroke(ctx, { colour, width }, [[end, at - 4 * ratio], [end, at + 4 * ratio]]);
        else arrowhead(ctx, end, at, (i ? 6 : -6) * ratio, colour);
      });
    }
    if (at_least) arrowhead(ctx, x, at, 6 * ratio, colour);
    else disc(ctx, x, at, 4 * ratio, colour);
  });
}

function stroke(ctx, { colour, width, dashes = [] }, points) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.setLineDash(dashes);
  ctx.beginPath();
  points.forEach(([x, y], index) => (index ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.stroke();
}

function disc(ctx, x, y, radius, colour) {
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.fill();
}

function arrowhead(ctx, x, y, size, colour) {
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.moveTo(x - size, y - size);
  ctx.lineTo(x, y);
  ctx.lineTo(x - size, y + size);
  ctx.fill();
}
