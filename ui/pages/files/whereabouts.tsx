import { Problem } from '../../lib/api.ts'
import { contextTitle, loadContext } from '../../lib/contexts.ts'
import { type Item, loadItem } from '../../lib/files.ts'
import { useLoaded } from '../../lib/load.ts'
import { t } from '../../lib/language.ts'
import { visible } from '../../lib/text.ts'

interface Place {
  readonly space: string
  readonly folder: string | undefined
}

/** Where a found item is: its space, and the folder in it. */
export function Whereabouts({ item }: { readonly item: Item }) {
  const { context, entryId } = item
  const [loaded] = useLoaded(signal => loadPlace(item, signal), [context, entryId])
  // The line has its height before the words are there.
  if (loaded.state !== 'ready') return <span class="meta place">{'\u00A0'}</span>
  const { space, folder } = loaded.value
  return (
    <span class="meta place">{folder === undefined ? visible(space) : `${visible(space)} › ${visible(folder)}`}</span>
  )
}

const spaces = new Map<string, Promise<string>>()

/** The name of a space does not change while somebody looks at a list. */
function nameOfSpace(context: string): Promise<string> {
  const known = spaces.get(context)
  if (known) return known
  // Of a space that is not shared, with a file that is, the person does not know the name.
  const name = loadContext(context).then(found => (found.canRead ? contextTitle(found) : t('sharedWithMe')))
  spaces.set(context, name)
  name.catch(() => spaces.delete(context))
  return name
}

/** @throws {Problem} */
async function loadPlace(item: Item, signal: AbortSignal): Promise<Place> {
  const { folder: id } = item
  const space = await nameOfSpace(item.context)
  if (id === undefined) return { space, folder: undefined }
  try {
    return { space, folder: (await loadItem(item.context, id, signal)).name }
  } catch (error) {
    // The folder is not shared with the person.
    if (error instanceof Problem && [401, 403, 404].includes(error.status)) return { space, folder: undefined }
    throw error
  }
}
