import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { currentLocale, t } from '../lib/language.ts'

export interface Series {
  readonly name: string
  /** One value for each time; `null` if there is none. */
  readonly values: ReadonlyArray<number | null>
}

interface ChartProps {
  readonly title: string
  readonly times: readonly Date[]
  readonly series: readonly Series[]
  /** Formats a value. */
  readonly tell: (value: number) => string
}

const HEIGHT = 170
/** In seconds, as the times of the chart. */
const HOUR = 3600
/** The lines differ in their dashes as well as in colour. */
const dashes = [[], [6, 4], [2, 3], [10, 4, 2, 4], [12, 3]]
const colours = ['--accent', '--bad', '--warn', '--good', '--muted']

/** Values over time. A text describes what the lines show. */
export function Chart({ title, times, series, tell }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const [Plot, setPlot] = useState<typeof uPlot>()
  useLayoutEffect(() => {
    // Only administrators see charts, so the library is loaded separately.
    import('uplot').then(
      ({ default: library }) => setPlot(() => library),
      () => undefined,
    )
  }, [])
  useLayoutEffect(() => {
    const element = box.current
    if (!Plot || !element) return undefined
    const plot = new Plot(optionsOf(element, { times, series, tell }), dataOf(times, series), element)
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [Plot, times, series])
  return (
    <figure class="chart">
      <h3>{title}</h3>
      <div ref={box} class="plot" aria-hidden="true" />
      <figcaption class="small">
        {series.map(({ name, values }, index) => (
          <span key={`${index} ${name}`} class={`series series-${index}`}>
            {summary(name, values, tell)}
          </span>
        ))}
      </figcaption>
    </figure>
  )
}

function summary(name: string, values: Series['values'], tell: (value: number) => string): string {
  const known = values.filter(value => value !== null)
  return t('graphNow', { name, value: tell(known.at(-1) ?? 0), max: tell(Math.max(0, ...known)) })
}

const dataOf = (times: readonly Date[], series: readonly Series[]): uPlot.AlignedData => [
  times.map(time => time.getTime() / 1000),
  ...series.map(({ values }) => [...values]),
]

function optionsOf(
  element: HTMLElement,
  { times, series, tell }: Pick<ChartProps, 'times' | 'series' | 'tell'>,
): uPlot.Options {
  const [first, last] = [times[0], times.at(-1)].map(time => (time?.getTime() ?? 0) / 1000) as [number, number]
  const style = getComputedStyle(element)
  const colour = (name: string): string => style.getPropertyValue(name)
  const clock = new Intl.DateTimeFormat(currentLocale(), { hour: '2-digit', minute: '2-digit' })
  const axis = { stroke: colour('--muted'), grid: { stroke: colour('--edge'), width: 1 }, ticks: { show: false } }
  const single = (series[0]?.values.length ?? 0) < 2
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      // Soon after a start there are few points, all with the same label.
      x: { range: () => [Math.min(first, last - HOUR), last] },
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    axes: [
      { ...axis, values: (_plot, times) => times.map(time => clock.format(new Date(time * 1000))) },
      { ...axis, size: 72, values: (_plot, values) => values.map(value => tell(value)) },
    ],
    series: [
      {},
      ...series.map((_, index) => ({
        stroke: colour(colours[index % colours.length] ?? '--ink'),
        width: 1.75,
        dash: dashes[index % dashes.length] ?? [],
        points: { show: single },
      })),
    ],
  }
}
