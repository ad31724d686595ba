import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { Await, Page } from '../components/page.tsx'
import { QuotaBar } from '../components/quota-bar.tsx'
import { type Context, contextTitle, loadContext, type Quota } from '../lib/contexts.ts'
import { t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { Link } from '../lib/router.tsx'
import { onUploads, type Upload, uploadsOf } from '../lib/uploads.ts'
import { FileList } from './file-list.tsx'
import { UploadList } from './upload-list.tsx'
import { UploadZone } from './upload-zone.tsx'

/** The files of one context. */
export function Files({ parts }: { readonly parts: Readonly<Record<string, string>> }) {
  const key = parts['context'] ?? ''
  const [loaded, again] = useLoaded(signal => loadContext(key, signal), [key])
  const title = loaded.state === 'ready' ? contextTitle(loaded.value) : key
  return (
    <Page title={t('files', { name: title })} lead={<Link to="">← {t('backToAccount')}</Link>}>
      <Await loaded={loaded} again={again}>
        {context => <FilesOf context={context} reload={again} />}
      </Await>
    </Page>
  )
}

/** The uploads of a context, now and after every change of them. */
function useUploads(context: string): readonly Upload[] {
  const [uploads, setUploads] = useState(() => uploadsOf(context))
  useLayoutEffect(() => onUploads(() => setUploads(uploadsOf(context))), [context])
  return uploads
}

function FilesOf({ context, reload }: { readonly context: Context; readonly reload: () => void }) {
  const { contextId, quota, canWrite } = context
  const title = contextTitle(context)
  const uploads = useUploads(contextId)
  const done = uploads.filter(({ state }) => state === 'done').length
  // What has arrived counts; the list and the level come from the service again.
  useEffect(() => {
    if (done > 0) reload()
  }, [done])
  return (
    <>
      {canWrite ? (
        <UploadZone context={contextId}>
          {quota && <QuotaBar name={title} quota={withUnderWay(quota, uploads)} />}
        </UploadZone>
      ) : (
        <p class="notice">{t('readOnly')}</p>
      )}
      <UploadList context={contextId} uploads={uploads} />
      <FileList contextId={contextId} round={done} onDeleted={reload} />
    </>
  )
}

/** The level as it will be when what is being sent has arrived. */
function withUnderWay(quota: Quota, uploads: readonly Upload[]): Quota {
  const sent = uploads.filter(({ state }) => state === 'sending').reduce((sum, { sent }) => sum + sent, 0)
  return { ...quota, fillLevel: quota.fillLevel + sent }
}
