import { useEffect, useRef } from 'preact/hooks'
import { Bar } from '../components/bar.tsx'
import { Button } from '../components/button.tsx'
import { Card } from '../components/page.tsx'
import { tell } from '../components/toast.tsx'
import { Problem } from '../lib/api.ts'
import { bytes, number, tellProblem } from '../lib/format.ts'
import { t } from '../lib/language.ts'
import { cancelUpload, clearUploads, retryUpload, type Upload } from '../lib/uploads.ts'

interface UploadListProps {
  readonly context: string
  readonly uploads: readonly Upload[]
}

/** How far each upload is, and what became of it. */
export function UploadList({ context, uploads }: UploadListProps) {
  const active = uploads.filter(({ state }) => state === 'waiting' || state === 'sending').length
  useAnnouncement(uploads, active)
  if (uploads.length === 0) return null
  return (
    <Card
      title={t('uploads')}
      aside={
        active < uploads.length && (
          <Button kind="quiet" size="small" onPress={() => clearUploads(context)}>
            {t('uploadsClear')}
          </Button>
        )
      }
    >
      <ul class="items">
        {uploads.map(upload => (
          <UploadItem key={upload.id} upload={upload} />
        ))}
      </ul>
    </Card>
  )
}

/** Says how it went when the last one is over: bars alone are not heard. */
function useAnnouncement(uploads: readonly Upload[], active: number): void {
  const wasActive = useRef(false)
  useEffect(() => {
    if (wasActive.current && active === 0) {
      const count = uploads.filter(({ state }) => state === 'done').length
      const refused = uploads.filter(({ state }) => state === 'refused').length
      const values = { count: number(count), refused: number(refused) }
      if (count + refused > 0) tell(refused === 0 ? t('uploadsDone', values) : t('uploadsRefused', values))
    }
    wasActive.current = active > 0
  }, [active])
}

function UploadItem({ upload }: { readonly upload: Upload }) {
  const { id, context, file, state, sent, problem } = upload
  const { name, size } = file
  return (
    <li class="upload">
      <div class="what">
        <strong>{name}</strong>
        {state === 'sending' && (
          <Bar
            kind="progress"
            label={t('progress', { name })}
            level={size === 0 ? 1 : sent / size}
            text={t('progressOf', { sent: bytes(sent), size: bytes(size) })}
          />
        )}
        {state === 'waiting' && <p class="muted small">{t('stateWaiting', { size: bytes(size) })}</p>}
        {state === 'done' && <p class="good small">✓ {t('stateDone', { size: bytes(size) })}</p>}
        {state === 'cancelled' && <p class="muted small">{t('stateCancelled')}</p>}
        {state === 'refused' && <p class="error">{tellRefusal(problem, size)}</p>}
      </div>
      <div class="buttons">
        {(state === 'sending' || state === 'waiting') && (
          <Button kind="quiet" size="small" label={t('cancelUpload', { name })} onPress={() => cancelUpload(id)}>
            {t('cancel')}
          </Button>
        )}
        {(state === 'refused' || state === 'cancelled') && (
          <Button kind="quiet" size="small" label={t('retryUpload', { name })} onPress={() => retryUpload(id)}>
            {t('retry')}
          </Button>
        )}
        {state !== 'sending' && state !== 'waiting' && (
          <Button
            kind="quiet"
            size="small"
            label={t('removeFromList', { name })}
            onPress={() => clearUploads(context, id)}
          >
            ×
          </Button>
        )}
      </div>
    </li>
  )
}

/** Why a file was not taken, in numbers. */
function tellRefusal(problem: unknown, size: number): string {
  if (!(problem instanceof Problem)) return tellProblem(problem)
  const [quota, fillLevel, needed, limit] = ['quota', 'fillLevel', 'needed', 'limit'].map(name =>
    Number(problem.extra[name] ?? 0),
  ) as [number, number, number, number]
  if (problem.code === 'file-too-large') return t('tooLarge', { limit: bytes(limit), size: bytes(size) })
  if (problem.code !== 'quota-exceeded') return tellProblem(problem)
  const free = Math.max(0, quota - fillLevel)
  const missing = bytes(Math.max(0, needed - free))
  return t('tooFull', { needed: bytes(needed), free: bytes(free), quota: bytes(quota), missing })
}
