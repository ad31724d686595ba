import { useRef } from 'preact/hooks'
import { Bar } from '../../components/bar.tsx'
import { Button } from '../../components/button.tsx'
import { Name } from '../../components/name.tsx'
import { tellBad, tellFailure } from '../../components/toast.tsx'
import { bytes } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { isSameFile, type Unfinished } from '../../lib/resumable-uploads.ts'
import { currentBaseUri } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'
import { addUploads, discardUpload } from '../../lib/uploads.ts'

/** An upload that has begun earlier. The browser cannot open its file by itself, so the person picks it again. */
export function UnfinishedUpload({ upload }: { readonly upload: Unfinished }) {
  const input = useRef<HTMLInputElement>(null)
  const { context, entry, fileName = entry, partial = false, length, received } = upload
  const name = visible(fileName)
  const go = (file: File | undefined): void => {
    if (!file) return
    if (!isSameFile(upload, file)) return tellBad(t('notSameFile', { name, size: bytes(length) }))
    const target = { context, contextUri: currentBaseUri() + context, folder: undefined }
    addUploads([{ target, file, name: fileName, replaces: entry, resumes: upload }])
  }
  return (
    <li class="upload">
      <div class="what">
        <Name>{fileName}</Name>
        <Bar
          kind="progress"
          label={t('progress', { name })}
          level={length === 0 ? 1 : received / length}
          text={t('stateUnfinished', { sent: bytes(received), size: bytes(length) })}
        />
      </div>
      <div class="buttons">
        <input
          ref={input}
          type="file"
          hidden
          aria-label={t('continueUpload', { name })}
          onChange={({ currentTarget }) => {
            go(currentTarget.files?.[0])
            currentTarget.value = ''
          }}
        />
        {!partial && (
          <Button
            kind="quiet"
            size="small"
            label={t('continueUpload', { name })}
            onPress={() => input.current?.click()}
          >
            {t('continueAction')}
          </Button>
        )}
        <Button
          kind="quiet"
          size="small"
          label={t('discardUpload', { name })}
          onPress={() => discardUpload(upload).catch(tellFailure)}
        >
          {t('discard')}
        </Button>
      </div>
    </li>
  )
}
