import { loadOwners } from '../../lib/home.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'
import { Contexts } from '../contexts-card.tsx'
import { FilesHome } from '../files-home.tsx'
import { SharedEntries } from './shared-entries.tsx'

/** Contexts, single files and folders that others have shared with the user. */
export function SharedWithMe() {
  return (
    <FilesHome title={t('sharedWithMe')}>
      <Contexts
        title={t('contexts')}
        access="shared"
        about={id => <Owners key={id} context={id} />}
        after={<SharedEntries />}
      />
    </FilesHome>
  )
}

/** Who owns a context. Nothing where that cannot be told. */
function Owners({ context }: { readonly context: string }) {
  const { me } = useSession()
  const [loaded] = useLoaded(signal => loadOwners(context, me, signal), [context, me.id])
  const names = loaded.state === 'ready' ? loaded.value : []
  return <p class="muted small">{names.length > 0 && t('sharedBy', { name: names.map(visible).join(', ') })}</p>
}
