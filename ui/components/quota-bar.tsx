import { freeBytes, type Quota } from '../lib/contexts.ts'
import { bytes, number } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import type { OwnerQuota } from '../lib/quotas.ts'
import { Bar } from './bar.tsx'

const NEARLY_FULL = 0.9

interface QuotaBarProps {
  /** Of what has the quota, for screen readers. */
  readonly name: string
  readonly quota: Quota
  /** Whether the name is shown before the numbers. */
  readonly isNamed?: boolean
}

/** Shows how full something is. */
export function QuotaBar({ name, quota, isNamed = false }: QuotaBarProps) {
  const free = freeBytes(quota)
  const used = bytes(quota.fillLevel)
  const shown = (text: string): string => (isNamed ? `${name}: ${text}` : text)
  if (free === undefined) return <p class="muted small">{shown(t('bytesUnlimited', { used }))}</p>
  return (
    <LevelBar
      label={t('level', { name })}
      used={quota.fillLevel}
      limit={quota.quota}
      text={shown(t('bytesFree', { used, quota: bytes(quota.quota), free: bytes(free) }))}
    />
  )
}

interface FilesBarProps {
  readonly name: string
  readonly files: number
  readonly maxFiles: number
  readonly isNamed?: boolean
}

/** Shows how many of the allowed files there are; nothing without a limit. */
export function FileCountBar({ name, files, maxFiles, isNamed = false }: FilesBarProps) {
  if (maxFiles < 0) return null
  const text = t('filesOfMax', { files: number(files), max: number(maxFiles) })
  return (
    <LevelBar
      label={t('levelFiles', { name })}
      used={files}
      limit={maxFiles}
      text={isNamed ? `${name}: ${text}` : text}
    />
  )
}

/** The number of files of something, with a bar if it is limited. */
export const FileCount = ({ name, quota }: { readonly name: string; readonly quota: OwnerQuota }) =>
  quota.maxFiles < 0 ? (
    <p class="muted small">{t('countFiles', { count: number(quota.files) })}</p>
  ) : (
    <FileCountBar name={name} files={quota.files} maxFiles={quota.maxFiles} />
  )

interface LevelBarProps {
  readonly label: string
  readonly used: number
  readonly limit: number
  readonly text: string
}

function LevelBar({ label, used, limit, text }: LevelBarProps) {
  const level = limit === 0 ? 1 : used / limit
  const tone = level >= 1 ? 'bad' : level >= NEARLY_FULL ? 'warn' : undefined
  return <Bar label={label} level={level} tone={tone} text={text} />
}
