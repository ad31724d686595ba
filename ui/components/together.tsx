import type { ComponentChildren } from 'preact'
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { t } from '../lib/language.ts'
import { LoadingContext } from '../lib/load.ts'

/**
 * Parts that load by themselves and are shown together once all of them have loaded or failed: a part that came later would push the others
 * away. After that each part changes by itself.
 */
export function Together({ children }: { readonly children: ComponentChildren }) {
  const [isShown, setShown] = useState(false)
  const count = useRef(0)
  const begin = useCallback(() => {
    count.current++
    return () => {
      count.current--
      // What has loaded may bring parts that load themselves; these have begun by then.
      queueMicrotask(() => count.current === 0 && setShown(true))
    }
  }, [])
  // Runs after those of its parts: nothing of it may have to load.
  useLayoutEffect(() => setShown(count.current === 0), [])
  const loading = useMemo(() => ({ begin }), [])
  return (
    <LoadingContext.Provider value={loading}>
      {!isShown && (
        <div role="status" class="pending">
          <div class="spinner" />
          <span class="hidden">{t('loading')}</span>
        </div>
      )}
      <div class={isShown ? 'together' : 'together waiting'}>{children}</div>
    </LoadingContext.Provider>
  )
}
