import { useEffect } from 'preact/hooks'
import { t } from '../lib/language.ts'
import { useSession } from '../lib/session.ts'
import { Contexts } from './contexts-card.tsx'
import { Files } from './files/lazy.ts'
import { FilesHome } from './files-home.tsx'

/** The contexts that the user can write to. */
export function MyFiles() {
  const { me } = useSession()
  // Most users open a context next.
  useEffect(Files.prefetch, [])
  return (
    <FilesHome title={t('myFiles')}>
      <Contexts title={t('contexts')} access="write" none={t(me.isAdmin ? 'contextsNoneAdmin' : 'contextsNone')} />
    </FilesHome>
  )
}
