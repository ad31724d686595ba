import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Fact } from '../../components/fact.tsx'
import { Area, Choice, Field } from '../../components/field.tsx'
import { Form, FormError } from '../../components/form.tsx'
import { Card } from '../../components/page.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { tell } from '../../components/toast.tsx'
import { ask, Problem } from '../../lib/api.ts'
import { tellProblem } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { type Attributes, readAttributes } from '../../lib/sso-attributes.ts'
import { explainCheck } from '../../lib/sso-checks.ts'
import { tellEvidence } from './sso-evidence.tsx'

interface ValueChange {
  readonly target: string
  readonly before?: string
  readonly after: string
}

interface Groups {
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly created: readonly string[]
  readonly missing: readonly string[]
  readonly unusable: readonly string[]
}

interface Result {
  readonly accepted: boolean
  readonly refusal?: { readonly check: string; readonly expected?: string; readonly received?: string }
  readonly name?: string
  readonly userId?: string
  readonly changes?: readonly ValueChange[]
  readonly groups?: Groups
}

interface Latest {
  readonly name: string
  readonly subject?: string
  readonly attributes?: Attributes
}

/** Shows what a sign-on with given attributes would yield: user, profile, groups, or why it would be refused. */
export function SsoPreview({ providers }: { readonly providers: readonly string[] }) {
  const [provider, setProvider] = useState(providers[0] ?? '')
  const [name, setName] = useState('')
  const [subject, setSubject] = useState<string>()
  const [text, setText] = useState('')
  const [result, setResult] = useState<Result>()
  const change = (set: (value: string) => void) => (value: string) => {
    set(value)
    setResult(undefined)
  }
  const preview = async (): Promise<void> => {
    const attributes = readAttributes(text)
    const json = {
      provider,
      attributes,
      ...(name === '' ? {} : { name }),
      ...(subject === undefined ? {} : { subject }),
    }
    setResult(await ask<Result>('management/sso/preview', { method: 'POST', json }))
  }
  const fillInLatest = async (): Promise<void> => {
    try {
      const query = new URLSearchParams({ provider })
      const latest = await ask<Latest>(`management/sso/latest?${query.toString()}`)
      setName(latest.name)
      setSubject(latest.subject)
      setText(JSON.stringify(latest.attributes ?? {}, undefined, 2))
      setResult(undefined)
    } catch (error) {
      tell(error instanceof Problem && error.status === 404 ? t('previewNoLatest') : tellProblem(error))
    }
  }
  return (
    <Card title={t('previewTitle')}>
      <p>{t('previewLead')}</p>
      <Form work={preview}>
        {problem => (
          <>
            <Choice
              label={t('provider')}
              value={provider}
              options={providers.map(one => [one, one] as const)}
              onValue={change(value => {
                setProvider(value)
                setSubject(undefined)
              })}
            />
            <Field
              label={t('previewName')}
              value={name}
              onValue={change(value => {
                setName(value)
                setSubject(undefined)
              })}
              autocomplete="off"
              hint={t('previewNameHint')}
            />
            <Area label={t('previewAttributes')} value={text} onValue={change(setText)} />
            <FormError problem={problem} />
            <div class="buttons">
              <Button type="submit">{t('previewShow')}</Button>
              <Button kind="quiet" onPress={() => void fillInLatest()}>
                {t('previewUseLatest')}
              </Button>
            </div>
          </>
        )}
      </Form>
      <div role="status">{result && <Outcome result={result} />}</div>
    </Card>
  )
}

function Outcome({ result }: { readonly result: Result }) {
  const { refusal, name = '', userId, changes = [], groups } = result
  if (refusal) {
    const { check, expected = '–', received = '–' } = refusal
    return (
      <div class="notice bad">
        <p>
          <strong>{t('previewRefused')}</strong> <code>{check}</code>
        </p>
        <p>{explainCheck(check)}</p>
        <p class="small long">{tellEvidence(expected, received)}</p>
      </div>
    )
  }
  return (
    <div class="stack">
      <p class="notice">
        <strong>{t('previewAccepted')}</strong>{' '}
        {userId === undefined ? t('previewNewUser', { name }) : t('previewKnownUser', { name })}
      </p>
      {changes.length > 0 && (
        <Table caption={t('previewChanges')} columns={changeColumns()} rows={changes} keyOf={({ target }) => target} />
      )}
      {groups && (
        <dl class="facts">
          <Fact name={t('previewGroupsAfter')}>{names(groups.after)}</Fact>
          <Fact name={t('previewGroupsBefore')}>{names(groups.before)}</Fact>
          {groups.created.length > 0 && <Fact name={t('previewGroupsCreated')}>{names(groups.created)}</Fact>}
          {groups.missing.length > 0 && <Fact name={t('previewGroupsMissing')}>{names(groups.missing)}</Fact>}
          {groups.unusable.length > 0 && <Fact name={t('previewGroupsUnusable')}>{names(groups.unusable)}</Fact>}
        </dl>
      )}
    </div>
  )
}

const names = (list: readonly string[]) => <span class="long">{list.length === 0 ? '–' : list.join(', ')}</span>

const changeColumns = (): ReadonlyArray<Column<ValueChange>> => [
  { title: t('previewTarget'), cell: ({ target }) => <code>{target}</code> },
  { title: t('previewBefore'), cell: ({ before = '–' }) => <span class="long">{before}</span> },
  { title: t('previewAfter'), kind: 'wide', cell: ({ after }) => <span class="long">{after}</span> },
]
