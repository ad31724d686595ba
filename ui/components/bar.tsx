interface BarProps {
  /** What is measured, for screen readers. */
  readonly label: string
  /** From 0 to 1. */
  readonly level: number
  readonly text: string
  readonly kind?: 'meter' | 'progress'
  readonly tone?: 'warn' | 'bad' | undefined
}

/** How far something is, or how full; the text beside it says the same in words. */
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
