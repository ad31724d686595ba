import { arch, platform, release } from 'node:os'
import { type CheckResult, lineOf } from '../../core/check-result.ts'
import type { EffectiveSetting } from '../../config/effective-setting.ts'

/** The data of the report of an installation. */
export interface Reported {
  readonly version: string
  readonly commit: string | undefined
  readonly settings: readonly EffectiveSetting[]
  readonly findings: readonly CheckResult[]
}

/** Numbers, sizes, durations and words such as `on` and `redis`: values that name nobody and nothing. */
const HARMLESS = /^(?:-?\d+(?:\.\d+)?[a-z]{0,3}|[a-z][a-z-]{0,20})$/

/**
 * Lines for a report of a bug, which anybody may read: versions, the settings that differ from their default, and findings. Secrets, and the names of
 * hosts, folders and people, are left out.
 */
export function reportOf({ version, commit, settings, findings }: Reported): readonly string[] {
  const changed = settings.filter(({ isSet, origin }) => isSet && origin !== 'default')
  return [
    `Stowage ${version}${commit === undefined ? '' : ` (commit ${commit})`}`,
    `Node.js ${process.versions.node}, ${platform()} ${release()}, ${arch()}`,
    '',
    ...changed.map(({ key, value, origin }) => `${key} = ${HARMLESS.test(value) ? value : '(set)'}   # ${origin}`),
    '',
    ...findings.map(finding => withoutNames(lineOf(finding))),
  ]
}

/** A text without the addresses, paths and mail addresses in it. */
export const withoutNames = (text: string): string =>
  text
    .replaceAll(/\b([a-z][a-z\d+.-]*:\/\/)[^\s,;)"']+/gi, '$1…')
    .replaceAll(/[^\s@"'(]+@[^\s@"')]+/g, '…@…')
    .replaceAll(/(?<![\w\u2026/:])\/[^\s,;)"':]+/g, '/…')
    .replaceAll(/\b\d{1,3}(?:\.\d{1,3}){3}\b/g, '…')
    .replaceAll(/\b(?:[a-z\d-]+\.)+(?!properties\b|key\b|pem\b|service\b)[a-z]{2,}\b(?=[\s,:;]|$)/gi, name =>
      name.startsWith('service.') ? name : '…',
    )
