import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Bar } from '../../components/bar.tsx'
import { Button } from '../../components/button.tsx'
import { Icon } from '../../components/icon.tsx'
import { Name } from '../../components/name.tsx'
import { tell, tellBad } from '../../components/toast.tsx'
import { Problem } from '../../lib/api.ts'
import { bytes, number, tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { lazy } from '../../lib/lazy.tsx'
import { findOperations, onOperations, operations, type Shown } from '../../lib/operations.ts'
import { othersTitle, ownerTitle } from '../../lib/quotas.ts'
import { useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'
import {
  canPauseUploads,
  cancelUpload,
  cancelUploads,
  clearUploads,
  findUnfinished,
  isActive,
  onUploads,
  pauseUploads,
  reservedBeside,
  retryUpload,
  type Upload,
  unfinishedElsewhere,
  uploads,
  uploadsArePaused,
} from '../../lib/uploads.ts'
import { UnfinishedUpload } from './unfinished-upload.tsx'

/** Its code is only needed while there are operations. */
const OperationList = lazy(async () => (await import('./operations.tsx')).OperationList, 'part')

/** All uploads, now and after every change. */
export function useUploads(): readonly Upload[] {
  const [, draw] = useState(0)
  useLayoutEffect(() => onUploads(() => draw(number => number + 1)), [])
  return uploads()
}

/** All operations, now and after every change. */
export function useOperations(): readonly Shown[] {
  const [, draw] = useState(0)
  useLayoutEffect(() => onOperations(() => draw(number => number + 1)), [])
  useEffect(findOperations, [])
  return operations()
}

/** Maximum number of uploads that are listed; the others are counted. */
const MAX_SHOWN = 100

const isSmall = (): boolean => matchMedia('(max-width: 44rem), (max-height: 40rem)').matches

/** Room between the tray and what is scrolled to, in pixels. */
const MARGIN = 24

/**
 * What is scrolled into the window, for instance because it has the focus, stays clear of the tray where the window is small.
 * @param isShown whether the tray is on the page
 */
function useScrollRoom(tray: RefObject<HTMLElement | null>, isShown: boolean): void {
  useLayoutEffect(() => {
    const element = tray.current
    if (!element) return undefined
    const { style } = document.documentElement
    const observer = new ResizeObserver(() => {
      style.setProperty('--tray', `${element.offsetHeight}px`)
      style.scrollPaddingBlockEnd = isSmall() ? `${element.offsetHeight + MARGIN}px` : ''
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      style.removeProperty('--tray')
      style.scrollPaddingBlockEnd = ''
    }
  }, [isShown])
}

/** Time in milliseconds after which a tray without failures goes. */
const CLOSE_AFTER = 5000

/** Closes the tray some time after everything has succeeded, unless somebody looks at it. */
function useSelfClosing(tray: RefObject<HTMLElement | null>, isOver: boolean): void {
  useEffect(() => {
    if (!isOver) return undefined
    const timer = setInterval(() => {
      if (tray.current?.matches(':hover, :focus-within') === false) clearUploads()
    }, CLOSE_AFTER)
    return () => clearInterval(timer)
  }, [isOver])
}

/** The progress of all uploads, and of work on many items: a line at the lower edge of every page, and a list on demand. */
export function UploadTray() {
  const all = useUploads()
  const [isOpen, setOpen] = useState(false)
  const active = all.filter(isActive)
  const unfinished = unfinishedElsewhere()
  const running = useOperations()
  const hasUploads = all.length > 0 || unfinished.length > 0
  const isShown = hasUploads || running.length > 0
  const failed = all.filter(({ state }) => state === 'refused').length
  const tray = useRef<HTMLElement>(null)
  useScrollRoom(tray, isShown)
  useSelfClosing(tray, all.length > 0 && active.length === 0 && failed === 0)
  useAnnouncement(all, active.length)
  // Why something failed must not be looked for.
  useEffect(() => {
    if (failed > 0) setOpen(true)
  }, [failed])
  useEffect(() => void findUnfinished(), [])
  if (!isShown) return null
  const size = all.reduce((sum, { file }) => sum + file.size, 0)
  const sent = all.reduce((sum, { sent, state, file }) => sum + (isActive({ state } as Upload) ? sent : file.size), 0)
  const isPaused = uploadsArePaused()
  const sorted = [...active, ...all.filter(upload => !isActive(upload)).reverse()].slice(0, MAX_SHOWN)
  return (
    <section ref={tray} class="tray card" aria-label={t(hasUploads ? 'uploads' : 'operations')}>
      {running.length > 0 && <OperationList shown={running} />}
      {hasUploads && (
        <header>
          <h2>
            {active.length > 0
              ? t('uploading', { count: number(active.length) })
              : unfinished.length > 0
                ? t('uploadsUnfinished', { count: number(unfinished.length) })
                : t('uploadsFinished')}
          </h2>
          {active.length > 0 && (
            <Bar
              kind="progress"
              label={t('uploads')}
              level={size === 0 ? 0 : sent / size}
              text={t('progressOf', { sent: bytes(sent), size: bytes(size) })}
            />
          )}
          <div class="buttons">
            {(canPauseUploads() || isPaused) && active.length > 0 && (
              <Button kind="quiet" size="small" onPress={() => pauseUploads(!isPaused)}>
                {t(isPaused ? 'resume' : 'pause')}
              </Button>
            )}
            {active.length > 0 ? (
              <Button kind="quiet" size="small" onPress={cancelUploads}>
                {t('cancelAll')}
              </Button>
            ) : (
              all.length > 0 && (
                <Button kind="quiet" size="small" onPress={() => clearUploads()}>
                  {t('uploadsClear')}
                </Button>
              )
            )}
            <button
              type="button"
              class="button quiet small only-icon"
              aria-expanded={isOpen}
              aria-label={t('showUploads')}
              onClick={() => setOpen(!isOpen)}
            >
              <Icon name={isOpen ? 'down' : 'up'} />
            </button>
          </div>
        </header>
      )}
      {isPaused && active.length > 0 && <p class="muted small">{t('pausedText')}</p>}
      {failed > 0 && !isOpen && <p class="error">{t('uploadsFailed', { count: number(failed) })}</p>}
      {isOpen && (
        <ul class="items">
          {sorted.map(upload => (
            <UploadItem key={upload.id} upload={upload} />
          ))}
          {unfinished.slice(0, MAX_SHOWN).map(upload => (
            <UnfinishedUpload key={upload.uri} upload={upload} />
          ))}
        </ul>
      )}
    </section>
  )
}

/** Announces the result to screen readers when the last upload is over. Earlier uploads are not counted again. */
function useAnnouncement(all: readonly Upload[], active: number): void {
  const told = useRef(new Set<number>())
  useEffect(() => {
    if (active > 0) return
    const over = all.filter(({ id, state }) => !told.current.has(id) && (state === 'done' || state === 'refused'))
    for (const { id } of over) told.current.add(id)
    const refused = over.filter(({ state }) => state === 'refused').length
    const values = { count: number(over.length - refused), refused: number(refused) }
    if (over.length > 0 && refused === 0) tell(t('uploadsDone', values))
    else if (over.length > 0) tellBad(t('uploadsRefused', values))
    // A short upload begins and ends between two renderings.
  }, [active, all.length])
  useEffect(() => {
    for (const { id, state } of all) if (state === 'waiting') told.current.delete(id)
  })
}

function UploadItem({ upload }: { readonly upload: Upload }) {
  const { me } = useSession()
  const { id, file, state, sent, problem } = upload
  const { size } = file
  const name = visible(upload.name)
  return (
    <li class="upload">
      <div class="what">
        <Name>{upload.name}</Name>
        {state === 'sending' && (
          <Bar
            kind="progress"
            label={t('progress', { name })}
            level={size === 0 ? 1 : sent / size}
            text={t('progressOf', { sent: bytes(sent), size: bytes(size) })}
          />
        )}
        {state === 'sending' && problem !== undefined && <p class="muted small">{t('stateBroken')}</p>}
        {state === 'waiting' && <p class="muted small">{t('stateWaiting', { size: bytes(size) })}</p>}
        {state === 'done' && <p class="good small">✓ {t('stateDone', { size: bytes(size) })}</p>}
        {state === 'cancelled' && <p class="muted small">{t('stateCancelled')}</p>}
        {state === 'refused' && <p class="error">{tellRefusal(upload, problem, me.id)}</p>}
      </div>
      <div class="buttons">
        {isActive(upload) && (
          <Button kind="quiet" size="small" label={t('cancelUpload', { name })} onPress={() => cancelUpload(id)}>
            {t('cancel')}
          </Button>
        )}
        {(state === 'refused' || state === 'cancelled') && (
          <Button kind="quiet" size="small" label={t('retryUpload', { name })} onPress={() => retryUpload(id)}>
            {t('retry')}
          </Button>
        )}
        {!isActive(upload) && (
          <button
            type="button"
            class="button quiet small only-icon"
            aria-label={t('removeFromList', { name })}
            onClick={() => clearUploads(id)}
          >
            <Icon name="close" />
          </button>
        )}
      </div>
    </li>
  )
}

/** Why a file was refused, with the numbers and, where the service has told it, whose quota is full. */
function tellRefusal(upload: Upload, problem: unknown, me: string): string {
  const text = tellReason(upload, problem)
  if (!(problem instanceof Problem) || problem.code !== 'quota-exceeded') return text
  const { owner, ownerId } = problem.extra
  const kind = (['context', 'user', 'group', 'store'] as const).find(kind => kind === owner)
  if (kind === undefined) return text
  if (typeof ownerId !== 'string') return t('tooFullOthers', { name: othersTitle(kind) })
  const whose = kind === 'user' && ownerId !== me ? t('quotaOf.creator') : ownerTitle({ owner: { kind, id: ownerId } })
  return `${whose}: ${text}`
}

function tellReason(upload: Upload, problem: unknown): string {
  if (!(problem instanceof Problem)) return tellProblem(problem)
  const [quota, fillLevel, needed, limit] = ['quota', 'fillLevel', 'needed', 'limit'].map(name =>
    Number(problem.extra[name] ?? 0),
  ) as [number, number, number, number]
  if (problem.code === 'file-too-large') return t('tooLarge', { limit: bytes(limit), size: bytes(upload.file.size) })
  if (problem.code !== 'quota-exceeded') return tellProblem(problem)
  if (problem.extra['unit'] === 'files') return t('tooManyFiles', { quota: number(quota) })
  const free = Math.max(0, quota - fillLevel)
  // The service reserves space for uploads in progress, which the fill level does not include yet.
  if (needed <= free) {
    const reserved = Math.max(reservedBeside(upload), free - needed + 1)
    return t('tooFullNow', { needed: bytes(needed), free: bytes(Math.max(0, free - reserved)), quota: bytes(quota) })
  }
  return t('tooFull', {
    needed: bytes(needed),
    free: bytes(free),
    quota: bytes(quota),
    missing: bytes(needed - free),
  })
}
