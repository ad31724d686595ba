import { Bar } from '../../components/bar.tsx'
import { Button } from '../../components/button.tsx'
import { Icon } from '../../components/icon.tsx'
import { Name } from '../../components/name.tsx'
import { tellFailure } from '../../components/toast.tsx'
import { number } from '../../lib/format.ts'
import { labelsOf } from '../../lib/labels.ts'
import { findMessage, t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { type Action, cancelOperation, closeOperation, type Shown } from '../../lib/operations.ts'
import { visible } from '../../lib/text.ts'
import type { MessageKey } from '../../messages/en.ts'

const titles: Readonly<Record<Action, MessageKey>> = {
  move: 'operationMove',
  copy: 'operationCopy',
  trash: 'operationTrash',
  restore: 'operationRestore',
  purge: 'operationPurge',
  share: 'operationShare',
  tag: 'operationTag',
}

/** What the service does with many items: how far it is, and what it could not do. */
export const OperationList = ({ shown }: { readonly shown: readonly Shown[] }) => (
  <ul class="items operations">
    {shown.map(one => (
      <OperationItem key={one.operation.id} shown={one} />
    ))}
  </ul>
)

function OperationItem({ shown }: { readonly shown: Shown }) {
  const { operation } = shown
  const { id, action, state, total, done, failed } = operation
  const title = t(titles[action], { count: number(total) })
  const isRunning = state === 'running'
  const over = done + failed
  return (
    <li class="upload">
      <div class="what">
        <strong>{title}</strong>
        {isRunning ? (
          <Bar
            kind="progress"
            label={title}
            level={total === 0 ? 1 : over / total}
            text={t('workingOn', { count: number(over), total: number(total) })}
          />
        ) : (
          <p class="muted small">{t('operationDone', { count: number(done), total: number(total) })}</p>
        )}
        {state === 'ended' && <p class="error">{tellReason(operation.code, operation.reason)}</p>}
        {failed > 0 && <Failures shown={shown} />}
      </div>
      <div class="buttons">
        {isRunning ? (
          <Button
            kind="quiet"
            size="small"
            label={t('cancelOperation', { name: title })}
            onPress={() => cancelOperation(shown).catch(tellFailure)}
          >
            {t('cancel')}
          </Button>
        ) : (
          <button
            type="button"
            class="button quiet small only-icon"
            aria-label={t('removeFromList', { name: title })}
            onClick={() => closeOperation(id)}
          >
            <Icon name="close" />
          </button>
        )}
      </div>
    </li>
  )
}

const tellReason = (code: string | undefined, reason = ''): string =>
  (code === undefined ? undefined : findMessage(`problem.${code}`)) ?? (reason === '' ? t('problem.unknown') : reason)

function Failures({ shown: { context, operation, names } }: { readonly shown: Shown }) {
  const { failed, failures } = operation
  // Names are not known of what was begun before the page was loaded again.
  const unnamed = failures.filter(({ entry }) => !names.has(entry)).map(({ entry }) => `${context}/${entry}`)
  const [labels] = useLoaded(signal => labelsOf(unnamed, signal), [unnamed.length])
  const nameOf = (entry: string): string =>
    names.get(entry) ?? (labels.state === 'ready' ? labels.value.get(`${context}/${entry}`) : undefined) ?? entry
  return (
    <details>
      <summary class="error">{t('operationFailed', { count: number(failed) })}</summary>
      <ul class="small">
        {failures.map(({ entry, code, reason }) => (
          <li key={entry}>
            <Name>{visible(nameOf(entry))}</Name>: {tellReason(code, reason)}
          </li>
        ))}
        {failed > failures.length && <li>{t('operationMore', { count: number(failed - failures.length) })}</li>}
      </ul>
    </details>
  )
}
