import { useRef, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { ConfirmByName } from '../../components/confirm-by-name.tsx'
import { Fact } from '../../components/fact.tsx'
import { Card } from '../../components/page.tsx'
import { address, part } from '../../lib/base.ts'
import { bytes, number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { sendFile } from '../../lib/send-file.ts'
import { visible } from '../../lib/text.ts'

/** The result of an import; `report` is present for an export of EntryStore. */
interface Imported {
  readonly entries: number
  readonly files: number
  readonly bytes: number
  readonly report?: Report
}

interface Report {
  readonly quads: Readonly<Record<string, number>>
  readonly counts: Readonly<Record<string, number>>
  readonly findings: readonly Finding[]
}

interface Finding {
  readonly code: string
  readonly text: string
  readonly advice: string
  readonly number: number
  readonly examples: readonly string[]
}

interface ContextArchiveProps {
  readonly id: string
  readonly name: string
}

/** Downloads a context as a zip, or replaces its content with that of a zip. */
export function ContextArchive({ id, name }: ContextArchiveProps) {
  const input = useRef<HTMLInputElement>(null)
  const [file, setFile] = useState<File>()
  const [imported, setImported] = useState<Imported>()
  const send = async (): Promise<void> => {
    if (!file) return
    const zip = new File([file], file.name, { type: 'application/zip' })
    const { signal } = new AbortController()
    const path = `${part(id)}/import`
    setImported(undefined)
    const answer = await sendFile({ method: 'POST', path, file: zip, name: zip.name, signal, onSent: () => undefined })
    setImported(answer as unknown as Imported)
    setFile(undefined)
  }
  return (
    <Card title={t('archive')}>
      <p>{t('archiveText')}</p>
      <input
        ref={input}
        type="file"
        accept=".zip"
        aria-label={t('importArchive')}
        hidden
        onChange={event => {
          setFile(event.currentTarget.files?.[0])
          event.currentTarget.value = ''
        }}
      />
      <div class="buttons">
        <a class="button quiet" href={address(`${part(id)}/export`)} download>
          {t('exportArchive')}
        </a>
        <Button kind="quiet danger" onPress={() => input.current?.click()}>
          {t('importArchive')}
        </Button>
      </div>
      {imported && <Result imported={imported} />}
      {file && (
        <ConfirmByName
          title={t('importArchive')}
          text={t('importArchiveText', { file: visible(file.name), size: bytes(file.size) })}
          name={name}
          onConfirm={send}
          onClose={() => setFile(undefined)}
        />
      )}
    </Card>
  )
}

function Result({ imported: { entries, files, bytes: size, report } }: { readonly imported: Imported }) {
  return (
    <div class="stack" role="status">
      <p class="notice">
        {t('archiveImported', { entries: number(entries), files: number(files), size: bytes(size) })}
      </p>
      {report && <ImportReport report={report} />}
    </div>
  )
}

/** The result for each statement of an EntryStore export, and the findings. */
function ImportReport({ report: { quads, counts, findings } }: { readonly report: Report }) {
  return (
    <>
      <h3>{t('importReport')}</h3>
      <dl class="facts">
        {Object.entries({ ...quads, ...counts }).map(([what, count]) => (
          <Fact key={what} name={what}>
            {number(count)}
          </Fact>
        ))}
      </dl>
      {findings.length === 0 && <p>{t('importClean')}</p>}
      {findings.map(({ code, text, advice, number: found, examples }) => (
        <details key={code}>
          <summary>
            <code>{code}</code>: {number(found)}. {text}
          </summary>
          <p>{advice}</p>
          <ul>
            {examples.map(example => (
              <li key={example}>{visible(example)}</li>
            ))}
          </ul>
        </details>
      ))}
    </>
  )
}
