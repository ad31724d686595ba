import { feature, offer } from '../../core/feature.ts'
import { defaultGraphLimits } from '../../graph/graph.ts'
import { search } from '../search/feature.ts'
import { trash } from '../trash/feature.ts'
import { operationCodes } from './codes.ts'
import { createEntryActions } from './entry-actions.ts'
import { EntryCopies } from './entry-copies.ts'
import { operationEvents } from './events.ts'
import { Operations } from './operations.ts'
import { operationRoutes } from './routes.ts'
import { OperationRunner } from './runner.ts'
import { operationSteps } from './schema-steps.ts'
import { Selections } from './selections.ts'

export const operations = feature({
  name: 'operations',
  needs: { search, trash },
  schemaSteps: operationSteps,
  codes: operationCodes,
  events: operationEvents,
  routes: operationRoutes,
  open: (core, { search: { search }, trash: { trash } }) => {
    const graphLimits = { ...defaultGraphLimits, maxSize: core.settings['service.http.json.max-size'] }
    const entryActions = createEntryActions({ listMoves: core.listMoves, trash, graphLimits })
    const runner = new OperationRunner({ ...core, entryActions, copies: new EntryCopies(core) })
    const operations = new Operations({ ...core, runner, selections: new Selections({ ...core, search }) })
    return {
      offers: offer({ operations }, operationRoutes),
      jobs: [
        ['operations', () => runner.takeOver()],
        ['finished operations', () => operations.expire()],
      ],
      recover: async isExclusive => {
        if (isExclusive) await runner.releaseAll()
      },
      begin: () =>
        void runner.takeOver().catch((err: unknown) => core.log.error({ err }, 'operations could not go on')),
      stop: () => runner.stop(),
    }
  },
})
