import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Fact } from '../../components/fact.tsx'
import type { Item } from '../../lib/files.ts'
import { bytes, dateTime, number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { numbered, visible } from '../../lib/text.ts'
import type { NewUpload } from '../../lib/uploads.ts'

/** A file to upload, and the existing item with the same name. */
export interface Conflict {
  readonly upload: NewUpload
  readonly existing: Item
}

interface ConflictsProps {
  readonly conflicts: readonly Conflict[]
  readonly taken: ReadonlySet<string>
  readonly onResolved: (uploads: readonly NewUpload[]) => void
}

type Choice = 'both' | 'replace' | 'skip'

/** Asks for each existing name whether to keep both files, replace the old one or skip the new one. */
export function Conflicts({ conflicts, taken, onResolved }: ConflictsProps) {
  const [choices, setChoices] = useState<readonly Choice[]>([])
  const conflict = conflicts[choices.length]
  if (!conflict) return null
  const finish = (all: readonly Choice[]): void => onResolved(chosen(conflicts, all, taken))
  const choose = (choice: Choice): void => {
    const next = [...choices, choice]
    if (next.length === conflicts.length) finish(next)
    else setChoices(next)
  }
  const rest = conflicts.length - choices.length
  const chooseForAll = (choice: Choice): void => finish([...choices, ...Array<Choice>(rest).fill(choice)])
  const { name } = conflict.upload
  const canReplace = !conflict.existing.isFolder && conflict.existing.canWrite
  return (
    <Dialog title={t('nameTaken', { name: visible(name) })} onClose={() => chooseForAll('skip')}>
      <p>{t('nameTakenText')}</p>
      <dl class="facts">
        <Fact name={t('fileThere')}>{told(conflict.existing.size, conflict.existing.modified)}</Fact>
        <Fact name={t('fileNew')}>{told(conflict.upload.file.size, new Date(conflict.upload.file.lastModified))}</Fact>
      </dl>
      <div class="buttons">
        <Button onPress={() => choose('both')}>{t('keepBoth')}</Button>
        {canReplace && (
          <Button kind="quiet" onPress={() => choose('replace')}>
            {t('replace')}
          </Button>
        )}
        <Button kind="quiet" onPress={() => choose('skip')}>
          {t('skipFile')}
        </Button>
      </div>
      {rest > 1 && (
        <div class="buttons">
          <Button kind="quiet" size="small" onPress={() => chooseForAll('both')}>
            {t('keepBothForAll', { count: number(rest) })}
          </Button>
          <Button kind="quiet" size="small" onPress={() => chooseForAll('replace')}>
            {t('replaceAll', { count: number(rest) })}
          </Button>
          <Button kind="quiet" size="small" onPress={() => chooseForAll('skip')}>
            {t('skipAll', { count: number(rest) })}
          </Button>
        </div>
      )}
    </Dialog>
  )
}

/** What tells two files with the same name apart. */
const told = (size: number | undefined, modified: Date | undefined): string =>
  [size === undefined ? undefined : bytes(size), modified && dateTime(modified)].filter(Boolean).join(' · ')

function chosen(conflicts: readonly Conflict[], choices: readonly Choice[], taken: ReadonlySet<string>): NewUpload[] {
  const names = new Set(taken)
  return conflicts.flatMap(({ upload, existing }, index) => {
    const choice = choices[index]
    if (choice === 'skip') return []
    if (choice === 'replace' && !existing.isFolder) return [{ ...upload, replaces: existing.entryId }]
    const name = freeName(upload.name, names)
    names.add(name)
    return [{ ...upload, name }]
  })
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let number = 2; ; number++) if (!taken.has(numbered(name, number))) return numbered(name, number)
}
