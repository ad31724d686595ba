import { useState } from 'preact/hooks'
import { ask } from '../lib/api.ts'
import { bytes } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { PAGE } from '../lib/portions.ts'
import { giveUp, type Unfinished } from '../lib/resumable-uploads.ts'
import { visible } from '../lib/text.ts'
import { Button } from './button.tsx'
import { Await } from './page.tsx'
import { Pager } from './pager.tsx'
import { type Column, Table } from './table.tsx'
import { attempt } from './toast.tsx'

/** An upload in progress that counts against a quota. */
interface Reserving extends Unfinished {
  /** Bytes. */
  readonly reserved: number
  readonly uploader: { readonly id: string; readonly name?: string }
}

interface ReservedUploadsProps {
  /** Of the quota. */
  readonly path: string
  /** Bytes that uploads in progress have reserved. */
  readonly reserved: number
  /** Called when an upload has been ended. */
  readonly again: () => void
}

/** What uploads in progress have reserved of a quota, and buttons that end them; nothing where there are none. */
export const ReservedUploads = (props: ReservedUploadsProps) =>
  props.reserved === 0 ? null : (
    <>
      <p class="muted small">{t('reservedBytes', { size: bytes(props.reserved) })}</p>
      <UploadTable {...props} />
    </>
  )

function UploadTable({ path, again }: ReservedUploadsProps) {
  const [offset, setOffset] = useState(0)
  const load = (signal: AbortSignal) =>
    ask<{ readonly items: readonly Reserving[]; readonly results: number }>(
      `${path}/uploads?limit=${PAGE}&offset=${offset}`,
      { signal },
    )
  const [loaded, reload] = useLoaded(load, [path, offset])
  const end = async (upload: Reserving): Promise<void> => {
    await attempt(() => giveUp(upload), t('uploadEnded', { name: nameOf(upload) }))
    reload()
    again()
  }
  return (
    <Await loaded={loaded} again={reload}>
      {({ items, results }) =>
        results > 0 && (
          <>
            <Table caption={t('reservedUploads')} columns={columns(end)} rows={items} keyOf={({ uri }) => uri} />
            {results > PAGE && (
              <Pager step={PAGE} offset={offset} shown={items.length} results={results} onOffset={setOffset} />
            )}
          </>
        )
      }
    </Await>
  )
}

const nameOf = ({ fileName, entry }: Reserving): string => visible(fileName ?? entry)

const columns = (end: (upload: Reserving) => Promise<void>): ReadonlyArray<Column<Reserving>> => [
  {
    title: t('reservedUploads'),
    cell: upload => (
      <>
        <span class="strong">{nameOf(upload)}</span>
        <p class="muted small">{t('stateUnfinished', { sent: bytes(upload.received), size: bytes(upload.length) })}</p>
      </>
    ),
  },
  { title: t('by'), cell: ({ uploader }) => visible(uploader.name ?? uploader.id) },
  { title: t('reserved'), kind: 'number', cell: ({ reserved }) => bytes(reserved) },
  {
    title: t('actions'),
    kind: 'actions',
    cell: upload => (
      <Button
        kind="quiet danger"
        size="small"
        label={t('endUpload', { name: nameOf(upload) })}
        onPress={() => end(upload)}
      >
        {t('end')}
      </Button>
    ),
  },
]
