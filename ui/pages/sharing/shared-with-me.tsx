import { t } from '../../lib/language.ts'
import { Contexts } from '../contexts-card.tsx'
import { FilesHome } from '../files-home.tsx'
import { SharedEntries } from './shared-entries.tsx'

/** Contexts, single files and folders that others have shared with the user. */
export function SharedWithMe() {
  return (
    <FilesHome title={t('sharedWithMe')}>
      <Contexts title={t('contexts')} access="shared" none={t('sharedNone')} />
      <SharedEntries />
    </FilesHome>
  )
}
