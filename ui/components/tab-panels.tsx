import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'

interface TabPanelsProps {
  /** Name of the tabs, for screen readers. */
  readonly label: string
  readonly tabs: ReadonlyArray<readonly [id: string, title: string]>
  readonly current: string
  readonly onTab: (id: string) => void
  readonly children: ComponentChildren
}

/** Parts of which one is shown. Arrow keys move between the tabs. */
export function TabPanels({ label, tabs, current, onTab, children }: TabPanelsProps) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const go = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    const at = tabs.findIndex(([tab]) => tab === current)
    const to = (at + step + tabs.length) % tabs.length
    onTab(tabs[to]?.[0] ?? current)
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[to]?.focus()
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div class="tabbed">
      <div ref={list} role="tablist" aria-label={label} onKeyDown={go}>
        {tabs.map(([tab, title]) => (
          <button
            key={tab}
            type="button"
            role="tab"
            id={`${id}-${tab}`}
            aria-selected={tab === current}
            aria-controls={`${id}-panel`}
            tabIndex={tab === current ? 0 : -1}
            onClick={() => onTab(tab)}
          >
            {title}
          </button>
        ))}
      </div>
      {/* What is in it may be taller, and have nothing to focus. */}
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${current}`} class="stack" tabIndex={0}>
        {children}
      </div>
    </div>
  )
}
