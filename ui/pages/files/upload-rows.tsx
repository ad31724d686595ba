import { useLayoutEffect } from 'preact/hooks'
import { t } from '../../lib/language.ts'
import type { Unfinished } from '../../lib/resumable-uploads.ts'
import { showAsRows, type Target, unfinishedUploads } from '../../lib/uploads.ts'
import { UnfinishedUpload } from './unfinished-upload.tsx'
import { useUploads } from './upload-tray.tsx'

/** The unfinished uploads of the user to the folder that is shown, above its files. Nobody else sees them. */
export function UploadRows({ target }: { readonly target: Target }) {
  useUploads()
  const isHere = ({ context, list }: Unfinished): boolean => context === target.context && list === target.folder
  // The tray need not show them a second time.
  useLayoutEffect(() => showAsRows(isHere), [target.context, target.folder])
  const here = unfinishedUploads().filter(isHere)
  if (here.length === 0) return null
  return (
    <ul class="items upload-rows" aria-label={t('uploadsUnfinishedHere')}>
      {here.map(upload => (
        <UnfinishedUpload key={upload.uri} upload={upload} />
      ))}
    </ul>
  )
}
