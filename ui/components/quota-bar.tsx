import { freeBytes, type Quota } from '../lib/contexts.ts'
import { bytes } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { Bar } from './bar.tsx'

const NEARLY_FULL = 0.9

/** Shows how full a context is. @param name of the context, for screen readers */
export function QuotaBar({ name, quota }: { readonly name: string; readonly quota: Quota }) {
  const free = freeBytes(quota)
  const used = bytes(quota.fillLevel)
  if (free === undefined) return <p class="muted small">{t('bytesUnlimited', { used })}</p>
  const level = quota.quota === 0 ? 1 : quota.fillLevel / quota.quota
  return (
    <Bar
      label={t('level', { name })}
      level={level}
      tone={level >= 1 ? 'bad' : level >= NEARLY_FULL ? 'warn' : undefined}
      text={t('bytesFree', { used, quota: bytes(quota.quota), free: bytes(free) })}
    />
  )
}
