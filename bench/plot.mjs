// Small plots as SVG. The same data always give the same bytes.
const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [640, 300, 64, 46, 56, 20]
const COLOURS = ['#1f5fa8', '#b3541e', '#2e7d4f', '#7a3b8f', '#8a6d00', '#0f7c86', '#a02c4a', '#555555']

/** @param curve its title, the name of its x axis, which is logarithmic, and series of points */
export function plot({ title, x, series }) {
  const points = series.flatMap(one => one.points)
  const xs = [...new Set(points.map(([at]) => at))].sort((a, b) => a - b)
  const most = niceAbove(Math.max(...points.map(([, value]) => value)))
  const [first, last] = [Math.log10(xs[0]), Math.log10(xs.at(-1))]
  const toX = at => LEFT + ((Math.log10(at) - first) / (last - first || 1)) * (WIDTH - LEFT - RIGHT)
  const toY = value => HEIGHT - BOTTOM - (value / most) * (HEIGHT - BOTTOM - TOP)
  const lines = [0, 0.25, 0.5, 0.75, 1].map(part => {
    const y = toY(part * most).toFixed(1)
    return `<path d="M${LEFT} ${y}H${WIDTH - RIGHT}" stroke="#ddd"/>${label(LEFT - 8, Number(y) + 4, short(part * most), 'end')}`
  })
  const marks = xs.map(at => label(toX(at), HEIGHT - BOTTOM + 18, short(at), 'middle'))
  const drawn = series.map(({ points }, index) => {
    const colour = COLOURS[index % COLOURS.length]
    const way = points.map(([at, value]) => `${toX(at).toFixed(1)} ${toY(value).toFixed(1)}`)
    const dots = points.map(
      ([at, value]) => `<circle cx="${toX(at).toFixed(1)}" cy="${toY(value).toFixed(1)}" r="3" fill="${colour}"/>`,
    )
    return `<path d="M${way.join('L')}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}`
  })
  let keyAt = LEFT
  const keys = series.map(({ name }, index) => {
    const key = `<circle cx="${keyAt + 4}" cy="38" r="4" fill="${COLOURS[index % COLOURS.length]}"/>${label(keyAt + 12, 42, name)}`
    keyAt += 30 + name.length * 6.2
    return key
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" fill="#222">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<text x="${LEFT}" y="20" font-size="14">${escape(title)}</text>
${[...keys, ...lines, ...marks, ...drawn].join('\n')}
${label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x, 'middle')}
</svg>
`
}

const label = (x, y, text, anchor = 'start') =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${escape(text)}</text>`

const escape = text => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** The next 1, 2, 4, 6 or 8 times a power of ten. */
function niceAbove(value) {
  const power = 10 ** Math.floor(Math.log10(value || 1))
  return [1, 2, 4, 6, 8, 10].map(times => times * power).find(nice => nice >= value) ?? value
}

const short = value => {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))} M`
  if (value >= 1e3) return `${Number((value / 1e3).toPrecision(3))} k`
  return String(Number(value.toPrecision(3)))
}
