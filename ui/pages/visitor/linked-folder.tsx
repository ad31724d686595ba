import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Icon, iconOf } from '../../components/icon.tsx'
import { Name } from '../../components/name.tsx'
import { Await, Card } from '../../components/page.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { tellFailure } from '../../components/toast.tsx'
import { address } from '../../lib/base.ts'
import { ago, bytes } from '../../lib/format.ts'
import { currentLocale, t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { linkedFile, type LinkedItem, type LinkedItems, linkedZip, loadLinked } from '../../lib/public-links.ts'
import { visible } from '../../lib/text.ts'
import { LinkedFile } from './linked-file.tsx'

interface LinkedFolderProps {
  readonly link: string
  readonly root: LinkedItem
  readonly isLimited: boolean
}

/** A folder behind a public link, and the folders in it. */
export function LinkedFolder({ link, root, isLimited }: LinkedFolderProps) {
  const [path, setPath] = useState<readonly LinkedItem[]>([root])
  const [shown, setShown] = useState<LinkedItem>()
  const folder = path.at(-1) ?? root
  return (
    <Card
      title={path.length > 1 ? visible(folder.name) : t('filesOf')}
      aside={
        <a class="button quiet small" href={address(linkedZip(link, folder.id))} download>
          {t('downloadZip')}
        </a>
      }
    >
      {path.length > 1 && (
        <nav class="crumbs" aria-label={t('breadcrumbs')}>
          <ol>
            {path.map(({ id, name }, depth) => (
              <li key={id}>
                {depth === path.length - 1 ? (
                  <span aria-current="page">
                    <Name>{name}</Name>
                  </span>
                ) : (
                  <button type="button" class="link" onClick={() => setPath(path.slice(0, depth + 1))}>
                    <Name>{name}</Name>
                  </button>
                )}
              </li>
            ))}
          </ol>
        </nav>
      )}
      <Members
        key={folder.id}
        link={link}
        folder={folder.id}
        onOpen={item => (item.kind === 'folder' ? setPath([...path, item]) : setShown(item))}
      />
      {shown && (
        <Dialog title={visible(shown.name)} size="large" onClose={() => setShown(undefined)}>
          <LinkedFile link={link} item={shown} isLimited={isLimited} />
        </Dialog>
      )}
    </Card>
  )
}

interface MembersProps {
  readonly link: string
  readonly folder: string
  readonly onOpen: (item: LinkedItem) => void
}

function Members({ link, folder, onOpen }: MembersProps) {
  const [loaded, again] = useLoaded(signal => loadLinked(link, folder, 0, signal), [link, folder])
  const [more, setMore] = useState<LinkedItems>()
  const showMore = async (present: readonly LinkedItem[], offset: number): Promise<void> => {
    try {
      const { items, ...rest } = await loadLinked(link, folder, offset, new AbortController().signal)
      setMore({ items: [...present, ...items], ...rest })
    } catch (error) {
      tellFailure(error)
    }
  }
  return (
    <Await loaded={loaded} again={again}>
      {first => {
        const { items, next } = more ?? first
        if (items.length === 0 && next === undefined) return <p class="empty">{t('linkFolderEmpty')}</p>
        return (
          <>
            <div class="linked">
              <Table
                caption={t('filesOf')}
                columns={columns(link, onOpen)}
                rows={sorted(items)}
                keyOf={({ id }) => id}
              />
            </div>
            {next !== undefined && (
              <div class="buttons">
                <Button kind="quiet" onPress={() => showMore(items, next)}>
                  {t('linkMore')}
                </Button>
              </div>
            )}
          </>
        )
      }}
    </Await>
  )
}

/** Folders first, then by name, with numbers in their order. */
function sorted(items: readonly LinkedItem[]): readonly LinkedItem[] {
  const names = new Intl.Collator(currentLocale(), { numeric: true })
  const rank = ({ kind }: LinkedItem): number => (kind === 'folder' ? 0 : 1)
  return [...items].sort((one, other) => rank(one) - rank(other) || names.compare(one.name, other.name))
}

const columns = (link: string, onOpen: (item: LinkedItem) => void): ReadonlyArray<Column<LinkedItem>> => [
  {
    title: t('fileName'),
    kind: 'wide',
    cell: item => (
      <span class="item-name">
        <Icon name={item.kind === 'folder' ? 'folder' : iconOf(item.mediaType)} />
        <button type="button" class={item.kind === 'folder' ? 'link strong' : 'link'} onClick={() => onOpen(item)}>
          <Name>{item.name}</Name>
        </button>
      </span>
    ),
  },
  { title: t('fileSize'), kind: 'number', cell: ({ size }) => (size === undefined ? '–' : bytes(size)) },
  { title: t('changed'), kind: 'whole', cell: ({ modified }) => ago(new Date(modified)) },
  {
    title: t('actions'),
    kind: 'actions',
    cell: ({ id, name, kind, size }) =>
      kind === 'file' &&
      size !== undefined && (
        <a
          class="button quiet small"
          href={address(`${linkedFile(link, id)}?download`)}
          download
          aria-label={`${t('download')}: ${visible(name)}`}
        >
          {t('download')}
        </a>
      ),
  },
]
