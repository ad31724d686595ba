import { useEffect } from 'preact/hooks'
import { contact } from '../lib/base.ts'
import { t } from '../lib/language.ts'
import { lazy } from '../lib/lazy.tsx'
import { useSession } from '../lib/session.ts'
import { Contexts } from './contexts-card.tsx'
import { FilesHome } from './files-home.tsx'

/** Loaded after the spaces, which people open most. */
const HomeBlocks = lazy(async () => (await import('./home-blocks.tsx')).HomeBlocks, 'part')

/** Where the user goes on: recent files, the spaces they can write to, and what others have shared. */
export function MyFiles() {
  useEffect(HomeBlocks.prefetch, [])
  return (
    <FilesHome title={t('myFiles')}>
      <Contexts title={t('contexts')} access="write" none={<NoSpace />} after={<HomeBlocks />} />
    </FilesHome>
  )
}

/** What a user without a space can do about it. */
function NoSpace() {
  const { me } = useSession()
  if (me.isAdmin) return <>{t('contextsNoneAdmin')}</>
  if (contact === undefined) return <>{t('contextsNone')}</>
  const subject = encodeURIComponent(t('askForSpaceSubject', { name: me.name }))
  const to = contact.includes('://') ? contact : `mailto:${contact}?subject=${subject}`
  return (
    <>
      {t('contextsNoneAsk')}{' '}
      <a class="button" href={to}>
        {t('askForSpace')}
      </a>
    </>
  )
}
