interface BarProps {
  /** Name of the measured value, for screen readers. */
  readonly label: string
  /** From 0 to 1. */
  readonly level: number
  readonly text: string
  readonly kind?: 'meter' | 'progress'
  readonly tone?: 'warn' | 'bad' | undefined
}

/** A progress or level bar; the text beside it has the same information. */
export function Bar({ label, level, text, kind = 'meter', tone }: BarProps) {
  const percent = Math.round(Math.min(1, Math.max(0, level)) * 100)
  return (
    <div class={tone === undefined ? 'bar' : `bar ${tone}`}>
      <div
        class="track"
        role={kind === 'meter' ? 'meter' : 'progressbar'}
        aria-label={label}
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuetext={text}
      >
        <div class="level" style={{ '--level': `${percent}%` }} />
      </div>
      <div class="text">{text}</div>
    </div>
  )
}
