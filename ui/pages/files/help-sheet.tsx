import { useLayoutEffect } from 'preact/hooks'
import { Dialog } from '../../components/dialog.tsx'
import { t } from '../../lib/language.ts'
import type { MessageKey } from '../../messages/en.ts'

const shortcuts = [
  ['↑ ↓', 'keyMove'],
  ['Enter', 'keyOpen'],
  ['Space', 'keySelect'],
  ['Shift + ↑ ↓', 'keyRange'],
  ['Ctrl + A', 'keyAll'],
  ['→', 'keyMenu'],
  ['F2', 'keyRename'],
  ['Delete', 'keyDelete'],
  ['Ctrl + Z', 'keyUndo'],
  ['/', 'keySearch'],
  ['?', 'keyHelp'],
] as const satisfies ReadonlyArray<readonly [string, MessageKey]>

/** The keys of the list of files. */
export function HelpSheet({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={t('shortcuts')} onClose={onClose}>
      <dl class="facts shortcuts">
        {shortcuts.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{t(text)}</dd>
          </div>
        ))}
      </dl>
      <div class="buttons">
        <button type="button" class="button quiet" onClick={onClose}>
          {t('close')}
        </button>
      </div>
    </Dialog>
  )
}

const TYPING = 'input:not([type=checkbox]), select, textarea, [contenteditable], dialog *'

/** The key for the help works wherever nobody is typing. */
export function useShortcuts(onHelp: () => void): void {
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { key, target } = event
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      if (target instanceof Element && target.matches(TYPING)) return
      if (key !== '?') return
      onHelp()
      event.preventDefault()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
}
